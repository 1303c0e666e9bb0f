-- Files of pictures, named after their content, so that the same picture is kept once. A row is there before its bytes
-- are and goes after them: what a crash leaves behind is always known here.
-- pending: its bytes may be there, and nothing shows it; deleting: its bytes are being removed.
create table image_file (
  name text primary key,
  media_type text not null,
  bytes integer not null,
  state text not null check (state in ('pending', 'stored', 'deleting')),
  since text not null
) without rowid;
create index image_file_loose on image_file (since) where state <> 'stored';

-- The pictures of a cheese, each once, in the order of their first upload.
create table cheese_image (
  id integer primary key autoincrement,
  cheese_id integer not null references cheese (id),
  image_name text not null references image_file (name),
  thumbnail_name text not null references image_file (name),
  size integer not null,
  caption text,
  created_at text not null
);
create unique index cheese_image_once on cheese_image (cheese_id, image_name);
create index cheese_image_by_image on cheese_image (image_name);
create index cheese_image_by_thumbnail on cheese_image (thumbnail_name);
