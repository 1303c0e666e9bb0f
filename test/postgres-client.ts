/** Statements to a PostgreSQL, past the code of Curd. */
import pg from 'pg';

/** Ids and counts are numbers. */
const getTypeParser = ((oid: number, format: 'text') =>
  oid === pg.types.builtins.INT8
    ? Number
    : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

type Query = (statement: string) => Promise<pg.QueryResultRow[]>;

/** Runs `work` on a connection. */
export async function onConnection<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
  // A server that stops closes the connection, which also rejects the statement.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(async (statement) => (await client.query(statement)).rows);
  } finally {
    await client.end();
  }
}

/** Runs statements one after the other. Returns the rows of the last one. */
export function queryPostgres(url: string, ...statements: string[]): Promise<pg.QueryResultRow[]> {
  return onConnection(url, async (query) => {
    let rows: pg.QueryResultRow[] = [];
    for (const statement of statements) {
      rows = await query(statement);
    }
    return rows;
  });
}
