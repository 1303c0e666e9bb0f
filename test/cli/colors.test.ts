/** Colors: only on a terminal, or with FORCE_COLOR. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { curd, type Environment, freshShop, type Run, resultOf, start } from './run.ts';

const csi = '\u001b[';
const hasScript = spawnSync('script', ['--version']).status === 0;

/** Runs a command on a new terminal. Everything that it prints is on standard output, its progress bar as well. Node prints no colors in CI. */
function onTerminal(environment: Environment, ...args: string[]): Promise<Run> {
  return resultOf(start(args, environment, ['sh', '-c', 'unset CI; script -qec "$*" /dev/null', 'sh']));
}

suite('Colors', () => {
  test('Colors of commands are not printed to a pipe', async (t) => {
    const shop = await freshShop(t);
    await curd(shop, 'migrate');
    const runs = await Promise.all([
      curd(shop, 'accounts', 'list'),
      curd(shop, 'doctor'),
      curd(shop, '--help'),
      curd(shop, 'keys', 'creat'),
      curd(shop, 'doctor', '--port', 'abc'),
    ]);
    for (const { stdout, stderr } of runs) {
      assert.ok(!(stdout + stderr).includes(csi), stdout + stderr);
    }
  });

  test('Colors of commands are printed with FORCE_COLOR, but never in JSON', async (t) => {
    const shop = await freshShop(t, { FORCE_COLOR: '1' });
    await curd(shop, 'migrate');
    const [accounts, doctor, help, mistyped, json] = await Promise.all([
      curd(shop, 'accounts', 'list'),
      curd(shop, 'doctor'),
      curd(shop, '--help'),
      curd(shop, 'keys', 'creat'),
      curd(shop, 'doctor', '--json'),
    ]);
    assert.equal(accounts.stdout, `${csi}1mid  name  plan${csi}22m\n`);
    assert.ok(doctor.stdout.startsWith(`${csi}32mok${csi}39m      settings\n`), doctor.stdout);
    assert.ok(help.stdout.startsWith(`${csi}1mUsage:`), help.stdout);
    assert.ok(mistyped.stderr.startsWith(`${csi}31mcurd:${csi}39m unknown`), mistyped.stderr);
    assert.ok(!json.stdout.includes(csi));
  });

  test('Colors of commands are printed on a terminal, unless NO_COLOR is set', {
    skip: !hasScript,
  }, async (t) => {
    const shop = await freshShop(t, { TERM: 'xterm-256color' });
    await curd(shop, 'migrate');
    const withColors = await onTerminal(shop, 'doctor');
    assert.ok(withColors.stdout.includes(`${csi}32mok`), withColors.stdout);
    const without = await onTerminal({ ...shop, NO_COLOR: '1' }, 'doctor');
    const printed = without.stdout.split(`${csi}2K`).at(-1) ?? '';
    assert.match(printed, /^ok +settings/);
    assert.ok(!printed.includes(csi), without.stdout);
  });
});
