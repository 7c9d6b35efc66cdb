//! Migrations, on empty and on migrated databases.

use adapters::postgres::migrate::{MIGRATIONS, MigrateError, Migration, apply, migrate};
use testing::TestDatabase;

#[tokio::test]
async fn an_empty_database_gets_every_migration_once() {
    let database = TestDatabase::empty().await;
    let mut client = database.connect().await;
    let names: Vec<_> = MIGRATIONS.iter().map(|migration| migration.name).collect();
    assert_eq!(migrate(&mut client).await.unwrap(), names);
    assert!(migrate(&mut client).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_migrated_database_stays_as_it_is() {
    let database = TestDatabase::create().await;
    assert!(
        migrate(&mut database.connect().await)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn two_at_once_are_one_after_the_other() {
    let database = TestDatabase::empty().await;
    let (mut one, mut two) = (database.connect().await, database.connect().await);
    let (one, two) = tokio::join!(migrate(&mut one), migrate(&mut two));
    assert_eq!(one.unwrap().len() + two.unwrap().len(), MIGRATIONS.len());
}

#[tokio::test]
async fn an_edited_or_unknown_migration_is_refused() {
    let database = TestDatabase::empty().await;
    let mut client = database.connect().await;
    let first = Migration {
        name: "0001",
        sql: "create table a ()",
    };
    let second = Migration {
        name: "0002",
        sql: "create table b ()",
    };
    assert_eq!(apply(&mut client, &[first]).await.unwrap(), ["0001"]);
    assert_eq!(
        apply(&mut client, &[first, second]).await.unwrap(),
        ["0002"]
    );
    let edited = Migration {
        sql: "create table c ()",
        ..first
    };
    let error = apply(&mut client, &[edited, second]).await.unwrap_err();
    assert!(matches!(error, MigrateError::Edited { name } if name == "0001"));
    let error = apply(&mut client, &[first]).await.unwrap_err();
    assert!(matches!(error, MigrateError::Unknown { name } if name == "0002"));
}

#[tokio::test]
async fn a_failure_leaves_nothing_of_its_run() {
    let database = TestDatabase::empty().await;
    let mut client = database.connect().await;
    let good = Migration {
        name: "0001",
        sql: "create table a ()",
    };
    let bad = Migration {
        name: "0002",
        sql: "create table b (); create table b ()",
    };
    let error = apply(&mut client, &[good, bad]).await.unwrap_err();
    assert!(matches!(error, MigrateError::Failed { name, .. } if name == "0002"));
    assert_eq!(apply(&mut client, &[good]).await.unwrap(), ["0001"]);
}

#[tokio::test]
async fn the_reader_may_read_and_nothing_else() {
    let database = TestDatabase::create().await;
    let client = database.connect().await;
    client
        .batch_execute("set role sourced_reader")
        .await
        .unwrap();
    for table in [
        "corpora",
        "versions",
        "documents",
        "chunks",
        "words",
        "sentences",
        "terms",
        "postings",
    ] {
        client
            .query(&format!("select * from {table}"), &[])
            .await
            .unwrap();
    }
    for statement in [
        "insert into corpora (name) values ('x')",
        "delete from chunks",
        "update corpora set current = 1",
        "create table t ()",
        "select * from embeddings",
    ] {
        let error = client.batch_execute(statement).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501", "{statement}");
    }
}

#[tokio::test]
async fn c023_a_notice_is_no_error() {
    let database = TestDatabase::empty().await;
    let client = database.connect().await;
    client
        .batch_execute("do $$ begin raise notice 'only a notice'; end $$")
        .await
        .unwrap();
    let rows = client
        .query("select to_tsquery('english', 'the')::text", &[])
        .await
        .unwrap();
    assert_eq!(rows[0].get::<_, String>(0), "");
}
