/** Reads the SQL of a migration and finds what an older version of the program could not use. */
import { execFileSync } from 'node:child_process';

/** The newest release tag from v1.0.0 on; null where the repository has none. */
export function newestRelease(repository: string): string | null {
  try {
    const tags = execFileSync('git', ['tag', '--list', 'v*', '--sort=-version:refname'], {
      cwd: repository,
      stdio: 'pipe',
    });
    return /^v[1-9]\d*\.\d+\.\d+$/m.exec(tags.toString())?.[0] ?? null;
  } catch {
    // Not a repository, or without git.
    return null;
  }
}

/** Migrations that differ from those of the newest release. Until v1.0.0 the baseline changes. */
export function changedSinceRelease(repository: string): string[] {
  const release = newestRelease(repository);
  if (release === null) {
    return [];
  }
  const changed = ['diff', '--name-only', '--no-renames', '--diff-filter=a', release, '--', 'migrations'];
  const files = execFileSync('git', changed, { cwd: repository });
  return files
    .toString()
    .split('\n')
    .filter((file) => file !== '');
}

/**
 * What a program of the version before the migration cannot use, one line for each; empty when it can use everything.
 * @param uniqueIndexes of earlier migrations
 */
export function breakingChanges(
  script: string,
  uniqueIndexes: ReadonlySet<string> = new Set<string>(),
): string[] {
  const statements = splitStatements(script);
  const created = new Set(statements.flatMap((text) => /^create table (\w+)/.exec(text)?.[1] ?? []));
  const addedNullable = new Set(
    statements.flatMap((text) =>
      addedColumns(text).flatMap(({ table, column, isFilled }) => (isFilled ? [] : `${table}.${column}`)),
    ),
  );
  return statements.flatMap((text) => {
    const dropped = /^drop index (?:if exists )?(\w+)/.exec(text)?.[1] ?? '';
    const reason = uniqueIndexes.has(dropped)
      ? 'older programs need the unique index for "on conflict", and to refuse duplicates'
      : reasonOf(text, created, addedNullable);
    return reason === null ? [] : [`${reason}: ${text.slice(0, 120)}`];
  });
}

function reasonOf(
  text: string,
  created: ReadonlySet<string>,
  addedNullable: ReadonlySet<string>,
): string | null {
  const refusedDeletion =
    'older programs would not delete the rows that it refers to; add "on delete cascade"';
  if (referencesWithoutAction(text).some((table) => !created.has(table))) {
    return refusedDeletion;
  }
  const index = /^create (unique )?index (?:if not exists )?\w+ on (\w+) ?\((.*?)\)/.exec(text);
  if (index !== null) {
    const [, unique, table = '', columns = ''] = index;
    const isOfNewColumn = columns.split(/, ?/).some((column) => addedNullable.has(`${table}.${column}`));
    return unique === undefined || created.has(table) || isOfNewColumn
      ? null
      : 'older programs may write rows that a unique index of existing columns refuses';
  }
  if (/^create (or replace )?(function|trigger) /.test(text)) {
    const isTrigger = /^create (or replace )?trigger |\breturns trigger\b/.test(text);
    return isTrigger && /\braise\b/.test(text) ? 'a trigger that refuses changes of older programs' : null;
  }
  const [, altered] = /^alter table (?:(?:if exists )?(?:only )?(\w+) )?/.exec(text) ?? [];
  if (text.startsWith('alter table ') && (altered === undefined || !created.has(altered))) {
    return alterationReason(text);
  }
  // Also within `with`.
  const deleted = [...text.matchAll(/\bdelete from (\S+)/g)].map(([, table = '']) => table);
  if (deleted.length > 0 && !/^create /.test(text)) {
    return deleted.every((table) => created.has(table)) ? null : 'rows that older programs may read';
  }
  return /^(create table|drop index|alter table|insert|update|select|with|analyze) /.test(text)
    ? null
    : 'not known to be usable by older programs';
}

/** Of a table that older programs use. */
function alterationReason(text: string): string | null {
  if (/^alter table \w+ (re)?set \(/.test(text)) {
    return null;
  }
  const added = addedColumns(text);
  if (added.length === 0) {
    return 'only nullable columns, or columns with a default, can be added to a table';
  }
  const refused = added.some(
    ({ definition, isFilled }) =>
      /\b(unique|primary key)\b/.test(definition) || (/\bnot null\b/.test(definition) && !isFilled),
  );
  return refused ? 'older programs do not write the column' : null;
}

interface AddedColumn {
  readonly table: string;
  readonly column: string;
  readonly definition: string;
  /** Whether it has a value in rows that older programs insert. */
  readonly isFilled: boolean;
}

/** Columns that the statement adds, if it does nothing else. */
function addedColumns(text: string): AddedColumn[] {
  const [, table = '', actions = ''] = /^alter table (\w+) (.*)$/.exec(text) ?? [];
  const columns = actions.split(/, ?(?=(?:add|alter|drop|rename|validate|set) )/).map((action) => {
    const [, column = '', definition = ''] =
      /^add (?:column )?(?:if not exists )?(?!constraint\b|check\b|primary\b|foreign\b|unique\b|exclude\b)(\w+) (.*)$/.exec(
        action,
      ) ?? [];
    return { table, column, definition, isFilled: /\b(default(?! null\b)|generated)\b/.test(definition) };
  });
  return columns.every(({ column }) => column !== '') ? columns : [];
}

/** Names of the unique indexes that a script creates. */
export function uniqueIndexesOf(script: string): string[] {
  return splitStatements(script).flatMap((text) => /^create unique index (\w+)/.exec(text)?.[1] ?? []);
}

/** Tables to which the statement refers in a way that can refuse the deletion of their rows. */
function referencesWithoutAction(text: string): string[] {
  const references = text.matchAll(/\breferences (\w+)(?: ?\([^)]*\))?( on delete (?:cascade|set null))?/g);
  return [...references].flatMap(([, table = '', action]) => (action === undefined ? [table] : []));
}

/** Statements in lower case without comments, each on one line. Texts and bodies of functions and triggers stay whole. */
export function splitStatements(script: string): string[] {
  const parts = script.matchAll(
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|;|[^-/'$;]+|[-/$]/g,
  );
  const statements: string[] = [];
  let text = '';
  for (const [part] of parts) {
    if (/^(--|\/\*)/.test(part)) {
      continue;
    }
    const soFar = oneLine(text);
    const isInTrigger = /^create (or replace )?trigger .*\bbegin\b/.test(soFar) && !/; ?end$/.test(soFar);
    if (part !== ';' || isInTrigger) {
      text += part;
    } else {
      statements.push(soFar);
      text = '';
    }
  }
  return [...statements, oneLine(text)].filter((statement) => statement !== '');
}

function oneLine(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').trim();
}
