-- The role a question is answered with: it may read, and nothing else. Nobody logs in as it; the service's login is made
-- a member. Where the migrating role may not create roles, an administrator creates sourced_reader beforehand.
do $$
begin
    if not exists (select from pg_roles where rolname = 'sourced_reader') then
        create role sourced_reader nologin;
        grant sourced_reader to current_user;
    end if;
exception
    -- Roles are shared by all databases of a server: another one's migration may have been quicker.
    when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema public to sourced_reader;
grant select on corpora, versions, documents, chunks, words, sentences, terms, postings to sourced_reader;
