/**
 * The callbacks that a program can pass in: members of options called `onSomething` that are functions, in everything
 * that the package's entries export, and in the types that this consists of.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Module {
  /** The text of what is declared, by name. */
  readonly declared: ReadonlyMap<string, string>;
  readonly imported: ReadonlyMap<string, { readonly name: string; readonly file: string }>;
}

const ENTRIES = join(__dirname, '../../imports/entries');
const IMPORT = /^(?:import|export)(?: type)? \{([^}]*)\} from '(\.[^']+)'/gm;
const DECLARATION = /^(?:export )?(?:abstract )?(interface|type|class|(?:async )?function) (\w+)/gm;
const CALLBACK = /^\s+(?:readonly )?(on[A-Z]\w*)\??: (?=\(|\w+\[)/gm;

/** @returns `Interface.member`, sorted */
export function callbacksOfEntries(): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const modules = new Map<string, Module>();
  const moduleOf = (file: string): Module => {
    const module = modules.get(file) ?? read(file);
    modules.set(file, module);
    return module;
  };
  const visit = (name: string, file: string, isExported: boolean): void => {
    if (seen.has(`${file} ${name}`)) return;
    seen.add(`${file} ${name}`);
    const { declared, imported } = moduleOf(file);
    const source = imported.get(name);
    if (source !== undefined) visit(source.name, source.file, isExported);
    const text = declared.get(name);
    // A program gets objects of other classes, and creates none.
    if (text === undefined || (!isExported && !/^(?:export )?(?:interface|type) /.test(text))) return;
    for (const [, member] of text.matchAll(CALLBACK)) found.add(`${name}.${member}`);
    for (const used of new Set(text.match(/\b[A-Z]\w+\b/g))) visit(used, file, false);
  };
  for (const entry of readdirSync(ENTRIES))
    for (const { name, file } of moduleOf(join(ENTRIES, entry)).imported.values()) visit(name, file, true);
  return [...found].toSorted();
}

function read(file: string): Module {
  const text = readFileSync(file, 'utf8');
  const declared = [...text.matchAll(DECLARATION)].map(({ index, 1: kind = '', 2: name = '' }) => {
    const rest = text.slice(index);
    const end = { interface: /\n\}/, type: /;\n(?! )/ }[kind] ?? (kind === 'class' ? /\n\}/ : /\{\n/);
    const whole = rest.slice(0, end.exec(rest)?.index);
    return [name, kind === 'class' ? signaturesOf(whole) : whole] as const;
  });
  const imported = [...text.matchAll(IMPORT)].flatMap(([, names = '', path = '']) =>
    names.split(',').flatMap((each) => {
      const [name = '', alias = name] = each.trim().split(' as ');
      return name === '' ? [] : [[alias, { name, file: fileOf(file, path) }] as const];
    }),
  );
  return { declared: new Map(declared), imported: new Map(imported) };
}

/** @returns what a class extends, and what its constructor and methods take */
function signaturesOf(text: string): string {
  const lines = text
    .split('\n')
    .filter((line, at) => at === 0 || /^ {2}(?!private)[a-z].*\(|^ {4}\w+\??: .*,$/.test(line));
  return lines.join('\n');
}

function fileOf(importer: string, path: string): string {
  const file = join(dirname(importer), path);
  return existsSync(`${file}.ts`) ? `${file}.ts` : `${file}.tsx`;
}
