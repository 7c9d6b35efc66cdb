-- A chunk's heading path has a vector too: a sentence means what it means under its heading. Empty in versions made before.
alter table chunks add column heading_hash bytea, add column heading_embedding halfvec;
alter table chunks alter column heading_embedding set storage main;
