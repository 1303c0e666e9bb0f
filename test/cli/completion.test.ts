/** "curd completion": the scripts, in the shells that are installed here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { shared, temporaryFolder } from '../context.ts';
import { curd } from './run.ts';

/** A typed line, and the completions of its last word. */
const cases: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['curd ser', ['serve']],
  ['curd keys ', ['create', 'list', 'rename', 'revoke', 'rotate', 'show']],
  ['curd keys create --acc', ['--account']],
  ['curd keys create --account keys --ex', ['--expires-in']],
  ['curd serve --trusted', ['--trusted-proxies']],
  ['curd keys create --trusted', []],
  ['curd completion ', ['bash', 'fish', 'zsh']],
  ['curd import cheeses some', ['some-file.csv']],
  ['curd serve --data-dir some', ['some-file.csv']],
];

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;
const folder = shared(async (t) => {
  const path = await temporaryFolder(t);
  writeFileSync(join(path, 'some-file.csv'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await curd({}, 'completion', shell);
    assert.deepEqual([code, stderr], [0, '']);
    writeFileSync(join(path, `curd.${shell}`), stdout);
  }
  return path;
});

/** What a shell prints, one word a line, sorted. */
function linesOf(shell: string, script: string, ...args: string[]): string[] {
  const run = spawnSync(shell, ['-c', script, ...args], { cwd: folder(), encoding: 'utf8' });
  assert.equal(run.stderr, '');
  return run.stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

suite('curd completion', () => {
  test('curd completion completes in bash', { skip: !isInstalled('bash') }, () => {
    // "-o default" completes file names when the function offers nothing.
    const script = `source ./curd.bash
      line=$1
      read -ra COMP_WORDS <<< "$line"
      [[ $line == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
      _curd
      if [ \${#COMPREPLY[@]} -gt 0 ]; then printf '%s\\n' "\${COMPREPLY[@]}"
      else compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"; fi`;
    assert.deepEqual(linesOf('bash', 'source ./curd.bash; complete -p curd'), [
      'complete -o default -F _curd curd',
    ]);
    for (const [typed, offered] of cases) {
      assert.deepEqual(linesOf('bash', script, 'bash', typed), offered, typed);
    }
  });

  test('curd completion completes in fish', { skip: !isInstalled('fish') }, () => {
    for (const [typed, offered] of cases) {
      const lines = linesOf('fish', `source ./curd.fish; complete -C '${typed}'`);
      assert.deepEqual(
        lines.map((line) => line.split('\t')[0]),
        offered,
        typed,
      );
    }
  });

  test('curd completion completes in zsh', { skip: !isInstalled('zsh') }, () => {
    // Only the function, because zsh itself needs a terminal to show completions.
    const script = `compdef() { }
      _describe() { local name=\${@[-1]}; print -rl -- \${\${(P)name}%%:*} }
      _files() { print -rl -- *(N) }
      source ./curd.zsh
      words=(\${(s: :)1}); [[ $1 == *' ' ]] && words+=('')
      CURRENT=$#words; PREFIX=$words[-1]
      _curd`;
    for (const [typed, offered] of cases) {
      const prefix = typed.split(' ').at(-1) ?? '';
      const words = linesOf('zsh', script, 'zsh', typed).filter((word) => word.startsWith(prefix));
      assert.deepEqual(words, offered, typed);
    }
  });

  test('curd completion refuses an unknown shell and lists the known ones', async () => {
    const { code, stdout, stderr } = await curd({}, 'completion', 'tcsh');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /tcsh.*bash, zsh, fish/);
  });
});
