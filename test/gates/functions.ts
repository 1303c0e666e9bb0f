/**
 * The lines of functions. Each line counts for one function: the innermost one with a name that it is part of. A
 * function has a name if it is a declaration, a method, an accessor, a constructor, or the value of a variable or of a
 * property. One without a name, such as a callback, counts for the function around it. Comments above a function do not
 * count; blank lines and comments in it do.
 *
 * Two kinds of lines count for no function, because they are read as a table from top to bottom: markup (JSX), and
 * declarations of routes, `route({ ... })`. Functions with a name in them, such as a handler, count as all others.
 *
 * The parser is that of TypeScript, whose interface for programs is not stable yet: an update can break this file.
 */
import { fileURLToPath } from 'node:url';
import * as ast from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface MeasuredFunction {
  readonly path: string;
  /** With the names around it: `createServer`, `openShop.close`, `Pool.constructor`. */
  readonly name: string;
  readonly lines: number;
}

/** The functions of all files that test/gates/functions.tsconfig.json includes, which makes TypeScript parse and not check them. */
export function measureFunctions(): MeasuredFunction[] {
  const typescript = new API({ cwd: root });
  try {
    const snapshot = typescript.updateSnapshot({
      openProjects: [`${root}test/gates/functions.tsconfig.json`],
    });
    return snapshot.getProjects().flatMap(({ program }) =>
      program
        .getSourceFileNames()
        .map((name) => program.getSourceFile(name))
        .filter((file) => file !== undefined)
        .flatMap(measureFile),
    );
  } finally {
    typescript.close();
  }
}

function measureFile(file: ast.SourceFile): MeasuredFunction[] {
  const path = file.fileName.slice(root.length);
  const lineStarts = file.getLineStarts();
  const lineOf = (position: number) => lineStarts.findLastIndex((start) => start <= position);
  const linesOf = (node: ast.Node): ReadonlySet<number> => {
    const [first, last] = [lineOf(node.getStart(file)), lineOf(node.getEnd())];
    return new Set(Array.from({ length: last - first + 1 }, (_, index) => first + index));
  };
  const found: MeasuredFunction[] = [];

  /** Adds the functions of a node. Returns the lines that functions with a name have in it. */
  function visit(node: ast.Node, around: string): ReadonlySet<number> {
    const own = nameOf(node);
    const name = own === undefined ? around : around === '' ? own : `${around}.${own}`;
    const inner = new Set<number>();
    node.forEachChild((child) => {
      for (const line of visit(child, name)) {
        inner.add(line);
      }
    });
    if (isTable(node)) {
      return linesOf(node);
    }
    if (own === undefined || ast.isClassDeclaration(node)) {
      return inner;
    }
    const lines = linesOf(node);
    found.push({ path, name, lines: lines.size - inner.size });
    return lines;
  }

  visit(file, '');
  return found;
}

/** The name of a function with a body, or of a class. */
function nameOf(node: ast.Node): string | undefined {
  if (ast.isConstructorDeclaration(node)) {
    return 'constructor';
  }
  if (
    ast.isFunctionDeclaration(node) ||
    ast.isMethodDeclaration(node) ||
    ast.isGetAccessorDeclaration(node) ||
    ast.isSetAccessorDeclaration(node) ||
    ast.isClassDeclaration(node)
  ) {
    return node.name?.getText() ?? 'default';
  }
  if (ast.isFunctionExpression(node) || ast.isArrowFunction(node)) {
    const { parent } = node;
    const isNamed =
      ast.isVariableDeclaration(parent) ||
      ast.isPropertyAssignment(parent) ||
      ast.isPropertyDeclaration(parent);
    return isNamed
      ? parent.name.getText()
      : ast.isFunctionExpression(node)
        ? node.name?.getText()
        : undefined;
  }
  return undefined;
}

/** A declaration of a route, or markup. */
function isTable(node: ast.Node): boolean {
  return (
    ast.isJsxElement(node) ||
    ast.isJsxSelfClosingElement(node) ||
    ast.isJsxFragment(node) ||
    (ast.isCallExpression(node) && ast.isIdentifier(node.expression) && node.expression.text === 'route')
  );
}
