/** Checks spans against the tables of OpenTelemetry's semantic conventions, as its repository publishes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SpanKind } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

interface Tables {
  readonly attributes: Readonly<
    Record<string, { readonly type: string | { readonly members: readonly string[] }; readonly deprecated?: true }>
  >;
  readonly spans: Readonly<
    Record<string, { readonly kind: string; readonly attributes: Readonly<Record<string, string>> }>
  >;
  readonly metrics: Readonly<
    Record<
      string,
      { readonly instrument: string; readonly unit: string; readonly attributes: Readonly<Record<string, string>> }
    >
  >;
}

export type TableVersion = '1.36' | '1.41';

export function readTables(version: TableVersion): Tables {
  const file = join(__dirname, '../../fixtures/semanticConventions', `${version}.json`);
  // Boundary: a fixture.
  return JSON.parse(readFileSync(file, 'utf8')) as Tables;
}

/** Attributes of Bolide's own, and those that events of spans have. */
const OWN = /^bolide\.[a-z_.]+$/;
/** Enumerations that may have other values: names of providers, and codes of errors. */
const OPEN: ReadonlySet<string> = new Set(['gen_ai.provider.name', 'gen_ai.system', 'error.type']);

/** @returns what is wrong, a line each */
export function problemsOf(spans: readonly ReadableSpan[], version: TableVersion): readonly string[] {
  const tables = readTables(version);
  return spans.flatMap((span) => {
    const table = tables.spans[tableOf(span, version)];
    if (table === undefined) return [`${span.name}: no such span`];
    const kind = SpanKind[span.kind].toLowerCase();
    const required = Object.entries(table.attributes).filter(([, level]) => level === 'required');
    return [
      ...(kind === table.kind || isAgent(span) ? [] : [`${span.name}: kind ${kind}`]),
      ...required.flatMap(([name]) => (name in span.attributes ? [] : [`${span.name}: lacks ${name}`])),
      ...Object.entries(span.attributes).flatMap(([name, value]) => {
        const listed = name in table.attributes || isAlsoListed(span, name);
        return listed || OWN.test(name) ? problemOf(tables, name, value) : [`${span.name}: ${name} is not listed`];
      }),
      ...span.events.flatMap(({ name, attributes = {} }) => [
        ...(OWN.test(name) ? [] : [`${span.name}: event ${name}`]),
        ...Object.entries(attributes).flatMap(([attribute, value]) => problemOf(tables, attribute, value)),
      ]),
    ];
  });
}

/** Version 1.36 has agents of other processes only, and does not list what it defines for tools. */
function isAgent({ attributes }: ReadableSpan): boolean {
  return attributes['gen_ai.operation.name'] === 'invoke_agent';
}

function isAlsoListed({ attributes }: ReadableSpan, name: string): boolean {
  const operation = attributes['gen_ai.operation.name'];
  return (
    (operation === 'execute_tool' && (name === 'gen_ai.operation.name' || name === 'gen_ai.tool.type')) ||
    (operation === 'embeddings' && (name === 'gen_ai.system' || name === 'gen_ai.response.model'))
  );
}

function problemOf(tables: Tables, name: string, value: unknown): readonly string[] {
  if (OWN.test(name)) return [];
  const attribute = tables.attributes[name];
  if (attribute === undefined) return [`${name} is not defined`];
  if (attribute.deprecated === true) return [`${name} is deprecated`];
  return isOfType(attribute.type, name, value) ? [] : [`${name} must not be ${JSON.stringify(value)}`];
}

function isOfType(type: string | { readonly members: readonly string[] }, name: string, value: unknown): boolean {
  if (typeof type !== 'string') return typeof value === 'string' && (OPEN.has(name) || type.members.includes(value));
  switch (type) {
    case 'int':
      return Number.isInteger(value);
    case 'double':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'string[]':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    default:
      // Structured values are JSON on spans.
      return typeof value === 'string';
  }
}

function tableOf({ kind, attributes }: ReadableSpan, version: TableVersion): string {
  if (kind === SpanKind.SERVER) return 'span.http.server';
  switch (attributes['gen_ai.operation.name']) {
    case 'execute_tool':
      return 'span.gen_ai.execute_tool.internal';
    case 'invoke_agent':
      return version === '1.36' ? 'span.gen_ai.invoke_agent.client' : 'span.gen_ai.invoke_agent.internal';
    case 'embeddings':
      return 'span.gen_ai.embeddings.client';
    default:
      return 'span.gen_ai.inference.client';
  }
}
