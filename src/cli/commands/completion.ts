/** Completion scripts for shells, generated from the command tree. */
import type { Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

interface Word {
  readonly word: string;
  readonly description: string;
}

interface Level {
  /** `keys create`; empty for the program itself. */
  readonly path: string;
  /** Subcommands, or the allowed values of the argument. */
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly takesValue: boolean })[];
  readonly takesFile: boolean;
}

/** Prints the completion script of a program for a shell. */
export function printCompletion(program: Command, shell: Shell): void {
  const levels = levelsOf(program);
  process.stdout.write({ bash, zsh, fish }[shell](levels));
}

function levelsOf(command: Command, path = ''): Level[] {
  const help = command.createHelp();
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help');
  return [
    {
      path,
      commands: [
        ...children.map((child) => ({ word: child.name(), description: child.description() })),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
          argChoices.map((word) => ({ word, description: '' })),
        ),
      ],
      options: help.visibleOptions(command).map(({ long, description, required }) => ({
        word: long ?? '',
        description,
        takesValue: required,
      })),
      takesFile: command.registeredArguments.some((argument) => argument.name() === 'file'),
    },
    ...children.flatMap((child) => levelsOf(child, `${path} ${child.name()}`.trim())),
  ];
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const paths = (levels: readonly Level[]) => levels.map(({ path }) => path).filter((path) => path !== '');
const valueOptions = (levels: readonly Level[]) => [
  ...new Set(
    levels.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue).map(({ word }) => word)),
  ),
];
const names = (words: readonly Word[]) => words.map(({ word }) => word).join(' ');

// "-o default" completes file names when there is no match. The script must run in bash 3.2, the version of macOS.
const bash = (
  levels: readonly Level[],
) => `# Completion of curd for bash. Load it with: source <(curd completion bash)
_curd() {
  local word=\${COMP_WORDS[COMP_CWORD]} path='' commands='' options='' i
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${valueOptions(levels).join(' | ')}) return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${paths(levels).map(quoted).join(' | ')}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path" in
${levels
  .map(
    ({ path, commands, options, takesFile }) =>
      `    ${quoted(path)}) commands=${quoted(names(commands) || (takesFile ? '' : names(options)))} options=${quoted(names(options))} ;;`,
  )
  .join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$word")) ;;
  esac
}
complete -o default -F _curd curd
`;

const described = (words: readonly Word[]) =>
  words.map(({ word, description }) => quoted(`${word}:${description}`)).join(' ');

const zsh = (levels: readonly Level[]) => `#compdef curd
# Completion of curd for zsh. Load it after compinit with: source <(curd completion zsh)
_curd() {
  local at='' takes_file='' i
  local -a commands options
  case "\${words[CURRENT-1]}" in
    ${valueOptions(levels).join(' | ')}) _files; return ;;
  esac
  for ((i = 2; i < CURRENT; i++)); do
    case "\${at:+$at }\${words[i]}" in
      ${paths(levels).map(quoted).join(' | ')}) at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  case "$at" in
${levels
  .map(
    ({ path, commands, options, takesFile }) =>
      `    ${quoted(path)}) commands=(${described(commands)}) options=(${described(options)}) takes_file=${quoted(takesFile ? 'yes' : '')} ;;`,
  )
  .join('\n')}
  esac
  if [[ "$PREFIX" != -* && -n "$takes_file" ]]; then
    _files
  elif [[ "$PREFIX" != -* ]] && (( $#commands )); then
    _describe command commands
  else
    _describe -o option options
  fi
}
compdef _curd curd
`;

const fish = (
  levels: readonly Level[],
) => `# Completion of curd for fish. Load it with: curd completion fish | source
set -g __curd_paths ${paths(levels).map(quoted).join(' ')}
function __curd_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l path
  for word in $words
    if contains -- (string join -- ' ' $path $word) $__curd_paths
      set -a path $word
    end
  end
  test "$path" = "$argv[1]"
end
${levels.map(fishLevel).join('\n')}
`;

function fishLevel({ path, commands, options, takesFile }: Level): string {
  const at = `complete -c curd -n ${quoted(`__curd_at "${path}"`)}`;
  return [
    ...(takesFile ? [] : [`${at} -f`]),
    ...commands.map(({ word, description }) => `${at} -a ${word} -d ${fishQuoted(description)}`),
    ...options.map(
      ({ word, description, takesValue }) =>
        `${at} -l ${word.slice(2)}${takesValue ? ' -rF' : ''} -d ${fishQuoted(description)}`,
    ),
  ].join('\n');
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
