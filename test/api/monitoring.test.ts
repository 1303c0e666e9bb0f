/** The dashboard and the alert rules in deploy/ use metrics and labels that /metrics exposes; docs describe all of them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { read } from '../gates/sources.ts';
import { onBothEngines, openShop, type Shop, shared } from '../helper.ts';

/** Metrics and labels that Prometheus adds itself. */
const addedMetrics = ['up'];
const addedLabels = ['job', 'instance'];

interface Query {
  readonly where: string;
  readonly expression: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const dashboard: Dashboard = JSON.parse(read('deploy/grafana-dashboard.json'));
const rules = read('deploy/prometheus-rules.yml');

function dashboardQueries(): Query[] {
  return dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: title, expression: expr })),
  );
}

function ruleQueries(): Query[] {
  return [...rules.matchAll(/- alert: (\w+)\n\s+expr: '([^'\n]+)'\n/g)].map(
    ([, where = '', expression = '']) => ({ where, expression }),
  );
}

const matchers = /\{[^}]*\}/g;
const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/** Names of metrics in PromQL: words that are not a label, a duration, a function or an operator. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(matchers, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(grouping, '')
    .replaceAll(/\b\d\w*/g, '');
  const names = bare.match(/\b[a-z_:][\w:]*\b(?!\s*\()/gi) ?? [];
  return names.filter((name) => !['and', 'or', 'unless', 'offset', 'bool'].includes(name));
}

/** Label matchers as name, operator and value. */
function matchersIn(
  expression: string,
): { metric: string; label: string; operator: string; value: string }[] {
  return [...expression.matchAll(/([\w:]+)\{([^}]*)\}/g)].flatMap(([, metric = '', text = '']) =>
    [...text.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label = '', operator = '', value = '']) => ({
      metric,
      label,
      operator,
      value,
    })),
  );
}

const groupedLabels = (expression: string) =>
  [...expression.matchAll(grouping)].flatMap(([, labels = '']) => labels.split(',').map((one) => one.trim()));

/** Sets of labels by the name of a sample, after requests with different statuses. */
async function exposed(shop: Shop): Promise<Map<string, Record<string, string>[]>> {
  const samples = await samplesOf(shop);
  // A shop on PostgreSQL has the backups of PostgreSQL.
  samples.set('curd_last_backup_timestamp_seconds', [{}]);
  return samples;
}

async function samplesOf(shop: Shop): Promise<Map<string, Record<string, string>[]>> {
  // The lag of a cache is exposed once it was purged.
  await shop.app.database.run(
    sql`insert into edge_purger (purge_url, position, epoch, updated_at) values ('http://cache/', '', 'none', '')
      on conflict (purge_url) do nothing`,
  );
  await shop.request('GET', '/v2/cheeses');
  await shop.request('GET', '/v2/cheeses', { as: shop.reader });
  await shop.request('GET', '/metrics', { as: shop.admin });
  const { text } = await shop.request('GET', '/metrics', { as: shop.admin });
  const samples = new Map<string, Record<string, string>[]>();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const one = Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]),
    );
    samples.set(name, [...(samples.get(name) ?? []), one]);
  }
  return samples;
}

onBothEngines('The dashboard and the alert rules', (engine) => {
  const ours = shared((t) => openShop(t, { engine }));

  test('The dashboard and the alert rules use metrics, labels and values that /metrics exposes', async () => {
    const samples = await exposed(ours());
    for (const { where, expression } of [...dashboardQueries(), ...ruleQueries()]) {
      const metrics = metricsIn(expression);
      assert.ok(metrics.length > 0, `${where} uses no metric`);
      const known = metrics.flatMap((name) => samples.get(name) ?? []);
      const labels = new Set([...known.flatMap((one) => Object.keys(one)), ...addedLabels]);
      for (const name of metrics) {
        assert.ok(samples.has(name) || addedMetrics.includes(name), `${where}: ${name} is not exposed`);
      }
      for (const label of groupedLabels(expression)) {
        assert.ok(labels.has(label), `${where}: no metric in it has the label ${label}`);
      }
      for (const { metric, label, operator, value } of matchersIn(expression)) {
        const values = (samples.get(metric) ?? []).map((one) => one[label]);
        const isAdded = addedLabels.includes(label);
        assert.ok(isAdded || values.some((one) => one !== undefined), `${where}: ${metric} has no ${label}`);
        // The statuses of requests are those that have occurred.
        if (!isAdded && operator === '=' && !metric.startsWith('curd_http_')) {
          assert.ok(values.includes(value), `${where}: ${metric} has no ${label}="${value}"`);
        }
      }
    }
  });

  test('The dashboard, the alert rules and docs/operations.md name every exposed metric, and no other', async () => {
    const names = [...(await exposed(ours())).keys()]
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
      .filter((name) => name.startsWith('curd_'));
    const documented = read('docs/operations.md').match(/\bcurd_[a-z_]+/g) ?? [];
    assert.deepEqual([...new Set(documented)].sort(), [...new Set(names)].sort());
    const shown = dashboardQueries()
      .flatMap(({ expression }) => metricsIn(expression))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
      .filter((name) => name.startsWith('curd_'));
    // Faults are simulated outside of production alone.
    const inProduction = names.filter((name) => name !== 'curd_simulated_total');
    assert.deepEqual([...new Set(shown)].sort(), [...new Set(inProduction)].sort());
  });
});

suite('The files in deploy/', () => {
  test('The files in deploy/ have a query in every panel and every alert, and a remedy for every alert', () => {
    const panels = dashboard.panels.filter(({ targets }) => targets !== undefined);
    assert.ok(panels.length > 20);
    assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
    const alerts = rules.match(/- alert: /g)?.length;
    assert.ok(ruleQueries().length > 10);
    assert.equal(ruleQueries().length, alerts);
    for (const key of ['severity: (page|ticket)', 'summary: ', 'description: ']) {
      assert.equal(rules.match(new RegExp(key, 'g'))?.length, alerts, key);
    }
  });

  test('The files in deploy/ select the job that docs/operations.md configures', () => {
    const [, job = ''] = /job_name: (\w+)/.exec(read('docs/operations.md')) ?? [];
    assert.equal(job, 'curd');
    for (const { where, expression } of ruleQueries()) {
      const selected = expression.match(/\{/g)?.length;
      assert.equal(expression.match(new RegExp(`\\{job="${job}"`, 'g'))?.length, selected, where);
      assert.equal(metricsIn(expression).length, selected, where);
    }
    for (const { where, expression } of dashboardQueries()) {
      assert.equal(expression.match(/\{job="\$job"/g)?.length, metricsIn(expression).length, where);
    }
  });

  test('The files in deploy/ are mentioned in docs/operations.md', () => {
    for (const name of ['grafana-dashboard.json', 'prometheus-rules.yml']) {
      assert.ok(read('docs/operations.md').includes(`(../deploy/${name})`), name);
    }
  });
});
