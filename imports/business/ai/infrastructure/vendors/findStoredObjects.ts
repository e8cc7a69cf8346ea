/** Finds the objects at the vendor that a request in the vendor's own format names, by `STORED_OBJECT_FIELDS`. */
import { foldName, isList, isObject } from '../../domain/util/json';
import type { NamedObject, StoredObjectKind } from '../../domain/types/StoredObjects';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { STORED_OBJECT_FIELDS } from './storedObjectFields';
import type { RequestForm } from './storedObjectFields';
import { parseUrl } from '../../domain/util/parseUrl';

export function findStoredObjects(form: RequestForm, request: unknown): readonly NamedObject[] {
  const found: NamedObject[] = [];
  walk(request, treeOf(form), { form, found, isInput: false }, '', 0);
  return found;
}

/** The fields that may follow one place in a request. All paths are followed in one pass. */
interface Tree {
  readonly fields: Map<string, Tree>;
  /** Any element of a list. */
  element?: Tree;
  /** Any field. */
  any?: Tree;
  /** At any depth below. */
  deep?: Tree;
  readonly conditions: Condition[];
  kind?: StoredObjectKind;
}

interface Condition {
  readonly types?: readonly string[];
  readonly absent?: string;
  readonly then: Tree;
}

function emptyTree(): Tree {
  return { fields: new Map(), conditions: [] };
}

const trees = new Map<RequestForm, Tree>();

/** The trees together take milliseconds, which a program that sends no such request need not wait for. */
function treeOf(form: RequestForm): Tree {
  const grown = trees.get(form);
  if (grown !== undefined) return grown;
  const root = emptyTree();
  for (const { path, kind } of STORED_OBJECT_FIELDS[form]) plant(root, path.split('.'), kind);
  trees.set(form, root);
  return root;
}

function plant(tree: Tree, [step, ...rest]: readonly string[], kind: StoredObjectKind): void {
  if (step === undefined) {
    tree.kind = kind;
    return;
  }
  plant(stepInto(tree, step), rest, kind);
}

function stepInto(tree: Tree, step: string): Tree {
  if (step === '**') return (tree.deep ??= emptyTree());
  if (step === '*') return (tree.any ??= emptyTree());
  if (step.startsWith('!')) return conditional(tree, { absent: step.slice(1) });
  const { name = '', list, types } = /^(?<name>\w+)(?<list>\[\])?(?:<(?<types>[\w|]+)>)?$/.exec(step)?.groups ?? {};
  let next = tree.fields.get(name);
  if (next === undefined) tree.fields.set(name, (next = emptyTree()));
  if (list !== undefined) next = next.element ??= emptyTree();
  return types === undefined ? next : conditional(next, { types: types.split('|') });
}

function conditional(tree: Tree, condition: Omit<Condition, 'then'>): Tree {
  const then = emptyTree();
  tree.conditions.push({ ...condition, then });
  return then;
}

interface Search {
  readonly form: RequestForm;
  readonly found: NamedObject[];
  readonly isInput: boolean;
}

/** Deeper than any vendor reads. */
const MAX_DEPTH = 100;
const INPUT_FIELDS: ReadonlySet<string> = new Set(['input', 'messages', 'contents']);

function walk(value: unknown, tree: Tree, search: Search, path: string, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (tree.kind !== undefined && typeof value === 'string') add(value, tree.kind, search, path);
  if (tree.deep !== undefined) walkDeep(value, tree.deep, search, path, depth);
  if (isList(value)) {
    const { element } = tree;
    if (element !== undefined)
      value.forEach((each, index) => walk(each, element, search, `${path}[${index}]`, depth + 1));
    return;
  }
  if (!isObject(value)) return;
  for (const { types, absent, then } of tree.conditions)
    if (holds(value, types, absent)) walk(value, then, search, path, depth + 1);
  if (tree.fields.size === 0 && tree.any === undefined) return;
  for (const key of Object.keys(value)) {
    const each = value[key];
    if (typeof each !== 'object' && typeof each !== 'string') continue;
    const next = tree.fields.get(nameOf(key, search.form));
    if (next === undefined && tree.any === undefined) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const below = path === '' && INPUT_FIELDS.has(key) ? { ...search, isInput: true } : search;
    if (next !== undefined) walk(each, next, below, at, depth + 1);
    if (tree.any !== undefined) walk(each, tree.any, below, at, depth + 1);
  }
}

/** What tools were given, and have found or made: an id there is only mentioned. */
const MENTIONING_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'args',
  'arguments',
  'parameters',
  'parametersJsonSchema',
  'response',
  'annotations',
  'citations',
  'results',
  'logprobs',
]);
/** Results of Anthropic's tools, which mention the files that they made. */
const MENTIONING_TYPES: ReadonlySet<unknown> = new Set(['bash_code_execution_output', 'code_execution_output']);

function walkDeep(value: unknown, tree: Tree, search: Search, path: string, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (isList(value)) {
    value.forEach((each, index) => {
      if (typeof each === 'object') walkDeep(each, tree, search, `${path}[${index}]`, depth + 1);
    });
    return;
  }
  if (!isObject(value)) return;
  if (!MENTIONING_TYPES.has(value.type)) walk(value, tree, search, path, depth + 1);
  for (const key of Object.keys(value)) {
    const each = value[key];
    if (typeof each === 'object' && !MENTIONING_FIELDS.has(key))
      walkDeep(each, tree, search, path === '' ? key : `${path}.${key}`, depth + 1);
  }
}

function holds(value: JsonObject, types: readonly string[] | undefined, absent: string | undefined): boolean {
  if (absent !== undefined) return value[absent] === undefined || value[absent] === null || value[absent] === '';
  const { type } = value;
  if (typeof type === 'string') return types?.includes(type) === true;
  // OpenAI takes an item that is nothing but an id for a reference.
  return types?.includes('item_reference') === true && value['role'] === undefined;
}

/** Google's API reads both spellings, and hosts that are written in Go any case: https://pkg.go.dev/encoding/json */
function nameOf(key: string, form: RequestForm): string {
  return form === 'gemini' ? key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : foldName(key);
}

function add(value: string, kind: StoredObjectKind, { form, found, isInput }: Search, path: string): void {
  const id = (form === 'gemini' || form === 'interactions') && kind === 'file' ? googleFileOf(value) : value;
  if (id !== undefined && id !== '') found.push({ kind, id, path, isInput });
}

/**
 * Files are named by URL. Anybody's address on the web is no object of the account; files of the API and of Google
 * Cloud Storage (`gs://`), which are read with the account's rights, are.
 */
function googleFileOf(uri: string): string | undefined {
  if (!/^https?:/i.test(uri.trim())) return uri;
  const url = parseUrl(uri);
  if (url === undefined) return uri;
  const host = url.hostname.replace(/\.$/, '');
  if (!host.endsWith('.googleapis.com') || host === 'storage.googleapis.com') return undefined;
  return /\/(files\/[^/?#]+)/.exec(url.pathname)?.[1] ?? uri;
}
