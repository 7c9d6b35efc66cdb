//! Reads one stored document, for the page that shows it.
//!
//! Always from the version that is current when the statement runs; older versions cannot be reached from here.

use std::collections::BTreeMap;

use domain::document::{Document, Section};
use tokio_postgres::types::{Json, Type};
use tokio_postgres::{Client, Error};

const DOCUMENT: &str = "
    select d.title, d.url, d.metadata, d.page_text, d.sections
    from corpora c
    join documents d on d.version = c.current
    where c.name = $1 and d.id = $2";

/// The document with this id in the corpus's current version, if there is one.
///
/// # Errors
/// When the database refuses or the connection fails.
pub async fn get_document(
    client: &Client,
    corpus: &str,
    id: &str,
) -> Result<Option<Document>, Error> {
    let rows = client
        .query_typed(DOCUMENT, &[(&corpus, Type::TEXT), (&id, Type::TEXT)])
        .await?;
    rows.first()
        .map(|row| {
            Ok(Document {
                id: id.to_owned(),
                title: row.try_get(0)?,
                url: row.try_get(1)?,
                metadata: row.try_get::<_, Json<BTreeMap<String, String>>>(2)?.0,
                page_text: row.try_get(3)?,
                sections: row.try_get::<_, Json<Vec<Section>>>(4)?.0,
            })
        })
        .transpose()
}
