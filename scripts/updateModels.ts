/**
 * `npm run models:update`: compares the limits and prices in `imports/business/ai/infrastructure/vendors/models/` with
 * https://models.dev, and prints what differs. `--write` changes the files, `--from <file>` reads a saved `api.json`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fieldsOf, isObject } from '../imports/business/ai/domain/util/json';
import { MODELS_DEV_VENDORS, readModelsDev } from '../imports/business/ai/infrastructure/vendors/modelsDev';
import type { ModelData } from '../imports/business/ai/infrastructure/vendors/ModelRow';
import { updateModelData } from './models/updateModelData';

const LIST = 'https://models.dev/api.json';
const FILES = join(__dirname, '..', 'imports/business/ai/infrastructure/vendors/models');
const OXFMT = join(__dirname, '..', 'node_modules/oxfmt/bin/oxfmt');
/** Vendors with a data file of their own, of which the list has a provider. */
const VENDORS: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google', 'grok', 'groq']);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, write: { type: 'boolean', default: false } } });
  const list: unknown = JSON.parse(await readList(values.from));
  if (!isObject(list)) throw new Error(`${values.from ?? LIST} is not an object of providers.`);
  const today = new Date().toISOString().slice(0, 10);
  let differing = 0;
  for (const [id, vendor] of Object.entries(MODELS_DEV_VENDORS)) {
    if (!VENDORS.has(vendor)) continue;
    const path = join(FILES, `${vendor}.json`);
    // The files are this project's own, and a test compares them with the type.
    const data = JSON.parse(readFileSync(path, 'utf8')) as ModelData;
    const models = fieldsOf(fieldsOf(list[id]).models);
    const { data: updated, changes } = updateModelData(data, readModelsDev(models, vendor, today));
    for (const change of changes) console.log(`${vendor}: ${change}`);
    differing += changes.length;
    if (values.write && changes.length > 0) write(path, updated);
  }
  console.log(differing === 0 ? 'Nothing differs.' : values.write ? 'Read the changes before you commit them.' : '');
}

async function readList(file: string | undefined): Promise<string> {
  if (file !== undefined) return readFileSync(file, 'utf8');
  const response = await fetch(LIST);
  if (!response.ok) throw new Error(`${LIST} answered ${response.status}.`);
  return response.text();
}

function write(path: string, data: ModelData): void {
  writeFileSync(path, JSON.stringify(data));
  execFileSync(process.execPath, [OXFMT, path]);
}

void main();
