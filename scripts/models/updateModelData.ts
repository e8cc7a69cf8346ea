/** Brings a data file of models up to date with the list of https://models.dev. */
import type { ModelData, ModelEntry } from '../../imports/business/ai/infrastructure/vendors/ModelRow';
import { toModelRows } from '../../imports/business/ai/infrastructure/vendors/ModelRow';
import type { ModelsDevEntry } from '../../imports/business/ai/infrastructure/vendors/modelsDev';

export interface ModelDataUpdate {
  readonly data: ModelData;
  /** What was changed and what was left alone, one line each. */
  readonly changes: readonly string[];
}

/** What the list knows better. Capabilities of known models are facts of this project's own tests, and stay. */
const FIELDS = ['maxTokens', 'maxOutputTokens', 'price'] as const;

/**
 * Entries for one model alone take the list's limits and prices. A model that differs from the entry for its family
 * gets an entry of its own before it. Models that the list has dropped stay, because calls of the past have their
 * price.
 */
export function updateModelData(data: ModelData, listed: readonly ModelsDevEntry[]): ModelDataUpdate {
  const models = [...data.models];
  const changes: string[] = [];
  for (const { id, problem, ...latest } of listed) {
    if (problem !== undefined) changes.push(`${id}: no price is taken from the list, since ${problem}`);
    const index = models.findIndex((entry) => matches(entry, id));
    const entry = models[index];
    const differing = FIELDS.filter((field) => latest[field] !== undefined && !isSame(field, entry, latest));
    if (differing.length === 0) continue;
    const taken = Object.fromEntries(differing.map((field) => [field, latest[field]]));
    if (entry !== undefined && isFor(entry, listed, id)) {
      models[index] = { ...entry, ...taken, ...mergedPrice(entry, latest) };
      changes.push(`${id}: ${describe(differing, entry, latest)}`);
      continue;
    }
    const { name: _, models: __, note: ___, ...known } = entry ?? latest;
    const added = { name: latest.name ?? id, ...known, ...taken };
    models.splice(index === -1 ? models.length : index, 0, added);
    changes.push(`${id}: added, with ${describe(differing, entry, latest)}`);
  }
  return { data: { ...data, models }, changes };
}

function matches(entry: ModelEntry, id: string): boolean {
  return toModelRows({ models: [entry] }).some(({ models }) => new RegExp(models, 'i').test(id));
}

/** Whether the entry names this model, and no other of the list. */
function isFor({ name }: ModelEntry, listed: readonly ModelsDevEntry[], id: string): boolean {
  if (name === undefined) return false;
  const exact = new RegExp(`^(?:${name})$`, 'i');
  return exact.test(id) && listed.every((other) => other.id === id || !exact.test(other.id));
}

function isSame(field: (typeof FIELDS)[number], entry: ModelEntry | undefined, latest: ModelEntry): boolean {
  if (field !== 'price') return entry?.[field] === latest[field];
  return comparable(entry?.price) === comparable(latest.price);
}

/** Without the day, the order of fields, and what only our files have. */
function comparable(price: ModelEntry['price']): string {
  if (price === undefined) return '';
  const { input, output, cached, cacheWrite, longPrompt } = price;
  const long =
    longPrompt === undefined ? [] : Object.entries(longPrompt).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([input, output, cached, cacheWrite, long]);
}

/** The list's prices, and of the file's own what the list lacks: factors, tools, audio and images. */
function mergedPrice({ price: known }: ModelEntry, { price }: ModelEntry): Pick<ModelEntry, 'price'> {
  if (price === undefined) return {};
  const {
    input: _,
    output: __,
    cached: ___,
    cacheWrite: ____,
    cacheWriteHour: _____,
    longPrompt: ______,
    ...own
  } = {
    ...known,
  };
  return { price: { ...own, ...price } };
}

function describe(
  fields: readonly (typeof FIELDS)[number][],
  before: ModelEntry | undefined,
  after: ModelEntry,
): string {
  return fields.map((field) => `${field} ${text(before?.[field])} → ${text(after[field])}`).join(', ');
}

function text(value: ModelEntry[(typeof FIELDS)[number]]): string {
  if (value === undefined) return 'unknown';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  const { input, cached, output, longPrompt } = value;
  const long =
    longPrompt === undefined ? '' : ` ($${longPrompt.input}/$${longPrompt.output} above ${longPrompt.above})`;
  return `$${input}/$${output}${cached === undefined ? '' : `, cached $${cached}`}${long}`;
}
