/** What the OpenAPI document says of an operation's route. */
import { describeSchema } from '../../host/describeSchema';
import type { AnyOperation, ResolvedRoute } from '../../host/defineOperation';
import { fieldsOf } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { RouteDescription } from './RouteDescription';

export function describeRoute(operation: AnyOperation, route: ResolvedRoute): RouteDescription {
  const { summary, description, example } = operation;
  const { method, parameters } = route;
  const { properties, required, ...schema } = describeSchema(operation.argument);
  const isInPath = (name: string): boolean => parameters.includes(name);
  const all = Object.entries(fieldsOf(properties)) as [string, JsonObject][];
  const isOther = (name: string): boolean => route.isPathOnly !== true && !isInPath(name);
  const needed = ((required ?? []) as readonly string[]).filter(isOther);
  const fields = Object.fromEntries(all.filter(([name]) => isOther(name)));
  const result = describeSchema(operation.result);
  return omitUndefined({
    summary,
    description: description === undefined ? undefined : withoutLinks(description),
    tag: operation.name.split('.').slice(0, 2).join('.'),
    parameters: Object.fromEntries(all.filter(([name]) => isInPath(name))),
    ...(method === 'post'
      ? bodyOf(schema, fields, needed, example)
      : {
          requiredQuery: pick(fields, (name) => needed.includes(name)),
          query: pick(fields, (name) => !needed.includes(name)),
        }),
    status: route.status,
    ...(route.content === undefined ? { result: wrapped(result, route.field) } : { content: [route.content] }),
  });
}

function wrapped(result: JsonObject, field: string | undefined): JsonObject {
  return field === undefined ? result : { type: 'object', properties: { [field]: result }, required: [field] };
}

/** Links lead to pages of the documentation. */
function withoutLinks(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}

function bodyOf(
  schema: JsonObject,
  properties: JsonObject,
  required: readonly string[],
  example: JsonObject | undefined,
): Pick<RouteDescription, 'body' | 'example'> {
  if (Object.keys(properties).length === 0) return {};
  return omitUndefined({
    body: { ...schema, properties, ...(required.length === 0 ? {} : { required }) },
    example: example && pick(example, (name) => name in properties),
  });
}

function pick<T>(fields: Readonly<Record<string, T>>, isIn: (name: string) => boolean): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isIn(name)));
}
