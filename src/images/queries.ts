/** SQL statements on images of cheeses and on their files. */
import { queriesOn } from '../database/database.ts';
import { forUpdate, rowsFromJson, type Statement, skippingLocked, sql, valueList } from '../database/sql.ts';

/** A row of image_file. */
export interface ImageFileRow {
  readonly name: string;
  readonly media_type: string;
  readonly bytes: number;
}

/** A row of cheese_image. */
export interface CheeseImageRow {
  readonly image_name: string;
  readonly thumbnail_name: string;
  readonly size: number;
  readonly caption: string | null;
  readonly created_at: string;
}

const storedFile = sql`select name, media_type, bytes from image_file where state = 'stored' and name`;

/** Finds stored files by name. */
export const imageFileLookup = {
  one: (name: string): Statement => sql`${storedFile} = ${name}`,
  many: (names: readonly string[]): Statement => sql`${storedFile} in (${valueList(names)})`,
  keyOf: (row: ImageFileRow): string => row.name,
};

/** All other statements. */
export const imageQueries = queriesOn((tx) => ({
  /** The files of all images. */
  listStored: () =>
    tx.all<{ name: string; mediaType: string }>(
      sql`select name, media_type as "mediaType" from image_file where state = 'stored' order by name`,
    ),

  /** Adds files as pending before they are written. Returns how many of them are not being deleted. */
  addPending: (files: readonly ImageFileRow[], now: string) =>
    tx.run(sql`
      insert into image_file (name, media_type, bytes, state, since)
      select value->>'name', value->>'media_type', cast(value->>'bytes' as bigint), 'pending', ${now}
      from ${rowsFromJson(files.map(({ name, media_type, bytes }) => ({ name, media_type, bytes })).toSorted((a, b) => (a.name < b.name ? -1 : 1)))} where true
      on conflict (name) do update set since = excluded.since where image_file.state <> 'deleting'`),

  /** Marks written files as stored. Returns how many of them are not being deleted. */
  markStored: (names: readonly string[]) =>
    tx.run(
      sql`update image_file set state = 'stored' where name in (${lockedFiles(names, sql`state <> 'deleting'`)})`,
    ),

  /** An image that the cheese already has keeps its position, and its caption unless there is a new one. */
  addImage: (cheeseId: number, image: CheeseImageRow) =>
    tx.run(sql`
      insert into cheese_image (cheese_id, image_name, thumbnail_name, size, caption, created_at)
      values (${cheeseId}, ${image.image_name}, ${image.thumbnail_name}, ${image.size}, ${image.caption},
        ${image.created_at})
      on conflict (cheese_id, image_name) do update set
        size = excluded.size, caption = coalesce(excluded.caption, cheese_image.caption)`),

  countImages: async (cheeseId: number) => {
    const row = await tx.get<{ images: number }>(
      sql`select count(*) as images from cheese_image where cheese_id = ${cheeseId}`,
    );
    return row?.images ?? 0;
  },

  findImages: (cheeseId: number) =>
    tx.all<CheeseImageRow>(sql`
      select image_name, thumbnail_name, size, caption, created_at from cheese_image
      where cheese_id = ${cheeseId} order by id`),

  deleteImages: (cheeseId: number) => tx.run(sql`delete from cheese_image where cheese_id = ${cheeseId}`),

  /** Marks files as pending that no image uses now. They are not served from then on. */
  markUnused: (names: readonly string[], now: string) =>
    tx.run(sql`
      update image_file set state = 'pending', since = ${now}
      where name in (${lockedFiles(names, sql`state = 'stored'`)})
        and not exists (select 1 from cheese_image where image_name = name or thumbnail_name = name)`),

  /** Marks files as deleting that have been unused since before `before`, and returns them. */
  markDeleting: (before: string, now: string, limit: number) =>
    tx.all<{ name: string }>(sql`
      update image_file set state = 'deleting', since = ${now}
      where name in (
        select name from image_file where state <> 'stored' and since < ${before}
          and not exists (select 1 from image_file_pin pin where pin.name = image_file.name)
        order by since limit ${limit}${skippingLocked})
      returning name`),

  /** Keeps the files that images use now, for a snapshot. */
  pinStored: (snapshotId: number) =>
    tx.run(sql`
      insert into image_file_pin (snapshot_id, name)
      select ${snapshotId}, name from image_file where state = 'stored'`),

  unpin: (snapshotId: number) => tx.run(sql`delete from image_file_pin where snapshot_id = ${snapshotId}`),

  /** Marks files as pending again that were not deleted. */
  markUndeleted: (names: readonly string[]) =>
    tx.run(
      sql`update image_file set state = 'pending' where name in (${lockedFiles(names, sql`state = 'deleting'`)})`,
    ),

  /** Deletes the rows of deleted files. */
  deleteRows: async (names: readonly string[]) => {
    if (names.length > 0) {
      await tx.run(
        sql`delete from image_file where name in (${lockedFiles(names, sql`state = 'deleting'`)})`,
      );
    }
  },
}));

/**
 * Locks files in the order of their names. The same image can be uploaded and deleted at the same time, and another
 * order could lead to a deadlock.
 */
function lockedFiles(names: readonly string[], condition: Statement): Statement {
  return sql`select name from image_file where name in (${valueList(names)}) and ${condition} order by name${forUpdate}`;
}
