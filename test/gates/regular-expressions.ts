/** Finds the regular expressions of a source file, and makes the inputs that a backtracking engine is slowest on. */

/** A regular expression literal and the line that it is on. */
export interface Literal {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** After these words, a slash begins a regular expression; after other words and numbers it divides. */
const wordsBeforeExpression = new Set(['return', 'typeof', 'case', 'in', 'of', 'await', 'yield']);

/** The regular expression literals of a file in TypeScript. */
export function literalsIn(text: string): Literal[] {
  const found: Literal[] = [];
  let index = 0;
  let previous = '';

  function skipPast(end: string): void {
    const at = text.indexOf(end, index);
    index = at === -1 ? text.length : at + end.length;
  }

  function readQuoted(quote: string): void {
    for (index += 1; text[index] !== quote; index += 1) {
      index += text[index] === '\\' ? 1 : 0;
    }
    index += 1;
  }

  function readTemplate(): void {
    for (index += 1; text[index] !== '`'; ) {
      if (text.startsWith('${', index)) {
        index += 2;
        readCode();
      } else {
        index += text[index] === '\\' ? 2 : 1;
      }
    }
    index += 1;
  }

  function readLiteral(): void {
    const start = index;
    let isInClass = false;
    for (index += 1; text[index] !== '/' || isInClass; index += 1) {
      isInClass = text[index] === '[' || (isInClass && text[index] !== ']');
      index += text[index] === '\\' ? 1 : 0;
    }
    const source = text.slice(start + 1, index);
    const flags = /^[a-z]*/.exec(text.slice(index + 1, index + 9))?.[0] ?? '';
    index += 1 + flags.length;
    found.push({ source, flags, line: text.slice(0, start).split('\n').length });
  }

  /** Reads to the closing brace, which ends a substitution of a template, or to the end. */
  function readCode(): void {
    for (let depth = 0; index < text.length; ) {
      const character = text[index] as string;
      const word = /^[\w$]+/.exec(text.slice(index, index + 64))?.[0];
      if (text.startsWith('//', index)) {
        skipPast('\n');
      } else if (text.startsWith('/*', index)) {
        skipPast('*/');
      } else if (/\s/.test(character)) {
        index += 1;
      } else if (word !== undefined) {
        index += word.length;
        previous = word;
      } else if (character === "'" || character === '"') {
        readQuoted(character);
        previous = character;
      } else if (character === '`') {
        readTemplate();
        previous = character;
      } else if (
        character === '/' &&
        (/^[^\w$)\]}'"`]*$/.test(previous) || wordsBeforeExpression.has(previous))
      ) {
        readLiteral();
        previous = ')';
      } else {
        depth += character === '{' ? 1 : character === '}' ? -1 : 0;
        index += 1;
        previous = character;
        if (depth < 0) {
          return;
        }
      }
    }
  }

  readCode();
  return found;
}

/** A node of a regular expression: one character of a set, a choice of sequences, or a repetition. */
type Node =
  | { readonly kind: 'set'; readonly source: string }
  | { readonly kind: 'choice'; readonly isEmpty: boolean; readonly options: readonly (readonly Node[])[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly least: number; readonly most: number };

const quantifier = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;
const groupStart = /\((\?(?:<?[=!]|:|<\w+>))?/y;
const set =
  /\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[\s\S])|[^()|^$]/y;

/** Parses what our regular expressions use of the grammar. @throws Error at anything else */
function parse(source: string): readonly (readonly Node[])[] {
  let index = 0;

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = index;
    const found = pattern.exec(source);
    index += found?.[0].length ?? 0;
    return found;
  }

  function parseOptions(): Node[][] {
    const options: Node[][] = [[]];
    while (index < source.length && source[index] !== ')') {
      if (source[index] === '|') {
        index += 1;
        options.push([]);
      } else if (source[index] === '^' || source[index] === '$' || source.startsWith('\\b', index)) {
        index += source[index] === '\\' ? 2 : 1;
      } else {
        options.at(-1)?.push(parseNode());
      }
    }
    return options;
  }

  function parseNode(): Node {
    const group = match(groupStart);
    let node: Node;
    if (group !== null) {
      node = { kind: 'choice', isEmpty: /[=!]/.test(group[1] ?? ''), options: parseOptions() };
      index += 1;
    } else {
      const found = match(set);
      if (found === null) {
        throw new Error(`/${source}/ is not understood at ${index}`);
      }
      node = { kind: 'set', source: found[0] };
    }
    const repeat = match(quantifier);
    if (repeat === null) {
      return node;
    }
    const [text, least, comma, most] = repeat;
    return {
      kind: 'repeat',
      of: node,
      least: least === undefined ? (text.startsWith('+') ? 1 : 0) : Number(least),
      most:
        least === undefined
          ? text.startsWith('?')
            ? 1
            : Number.POSITIVE_INFINITY
          : Number(most || (comma === undefined ? least : Number.POSITIVE_INFINITY)),
    };
  }

  return parseOptions();
}

const alphabet = [
  ...Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code)),
  '\u00a0',
  '\u0301',
  '\u2800',
  '\ufeff',
  'é',
  'œ',
  '漢',
];

/** Texts that lead to each repetition of an expression and repeat what it repeats, so that every start may match. */
export function pumpedInputs({ source, flags }: Literal, length: number): string[] {
  const options = parse(source);
  const sets = new Map<string, string[]>();

  function charactersOf(setSource: string): string[] {
    const known = sets.get(setSource);
    if (known !== undefined) {
      return known;
    }
    const pattern = new RegExp(`^(?:${setSource})$`, flags.replace(/[gy]/g, ''));
    const characters = alphabet.filter((character) => pattern.test(character));
    sets.set(setSource, characters);
    return characters;
  }

  function sampleOf(node: Node): string {
    switch (node.kind) {
      case 'set':
        return charactersOf(node.source).find((one) => /\w/.test(one)) ?? charactersOf(node.source)[0] ?? '';
      case 'choice':
        return node.isEmpty ? '' : (node.options[0] ?? []).map(sampleOf).join('');
      case 'repeat':
        return sampleOf(node.of).repeat(Math.min(node.most, Math.max(1, node.least)));
    }
  }

  const repeated: { prefix: string; of: Node }[] = [];

  function visit(nodes: readonly Node[], start: string): void {
    let prefix = start;
    for (const node of nodes) {
      const inner = node.kind === 'repeat' ? node.of : node;
      if (node.kind === 'repeat' && node.most > 1) {
        repeated.push({ prefix, of: node.of });
      }
      if (inner.kind === 'choice') {
        for (const option of inner.options) {
          visit(option, prefix);
        }
      }
      prefix += sampleOf(node);
    }
  }
  for (const option of options) {
    visit(option, '');
  }

  // One character of each kind: two that belong to the same sets behave alike.
  const kinds = new Map(
    alphabet.map((one) => [[...sets.values()].map((characters) => characters.includes(one)).join(), one]),
  );
  const inputs = repeated.flatMap(({ prefix, of }) => {
    const ofElement =
      of.kind === 'choice' ? of.options.map((option) => option.map(sampleOf).join('')) : [sampleOf(of)];
    const pumps = new Set([...kinds.values(), ...ofElement, ...ofElement.map((pump) => prefix + pump)]);
    return [...pumps]
      .filter((pump) => pump !== '')
      .flatMap((pump) => {
        const text = prefix + pump.repeat(Math.ceil(length / pump.length));
        // Behind another character, an expression that is not anchored may match at the start of each repetition.
        return ['', '\0', '\n', 'x'].flatMap((suffix) => [`${text}${suffix}`, `\0${text}${suffix}`]);
      });
  });
  return [...new Set(inputs)];
}
