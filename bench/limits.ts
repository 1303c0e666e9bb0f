/**
 * The limits that Curd is held against: a bare Fastify that sends the same bytes, alone or after one call of a bare
 * driver. Run as a process of its own; prints its port.
 */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import postgres from 'postgres';

const { one, list, databaseUrl } = JSON.parse(readFileSync(0, 'utf8')) as {
  one: string;
  list: string;
  databaseUrl: string | null;
};

const app = Fastify();
const type = 'application/json; charset=utf-8';

app.get('/one', (_request, reply) => {
  reply.type(type).send(one);
});
app.get('/list', (_request, reply) => {
  reply.type(type).send(list);
});

if (databaseUrl !== null) {
  const sql = postgres(databaseUrl, { max: 10 });
  const text = 'select id, version, body from cheese where id = $1';
  app.get<{ Params: { id: string } }>('/one/:id', async (request, reply) => {
    const [row] = await sql.unsafe(text, [request.params.id], { prepare: true });
    reply.type(type);
    return row?.body;
  });
  app.get<{ Params: { id: string } }>('/list/:id', async (request, reply) => {
    await sql.unsafe(text, [request.params.id], { prepare: true });
    reply.type(type);
    return list;
  });
}

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
