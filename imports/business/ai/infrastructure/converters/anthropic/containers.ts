/**
 * The container in which a program of the model waits for the results of its calls, which the request with the results
 * must name. https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling,
 * https://github.com/anthropics/anthropic-sdk-python/pull/1150
 */
import { fieldsOf, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { FunctionCallItem, InputItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Notes the container of a response at the calls that its programs made. */
export function withContainer(output: readonly OutputItem[], container: unknown): readonly OutputItem[] {
  const { id } = fieldsOf(container);
  if (typeof id !== 'string') return output;
  return output.map((item) =>
    item.type === 'function_call' && isOfProgram(item)
      ? { ...item, vendor: { ...item.vendor, anthropic: { ...item.vendor?.anthropic, container: id } } }
      : item,
  );
}

function isOfProgram({ vendor }: FunctionCallItem): boolean {
  const { type } = fieldsOf(vendor?.anthropic?.caller);
  return type !== undefined && type !== 'direct';
}

/** The fields of a call that the API knows. */
export function withoutContainer(fields: JsonObject | undefined): JsonObject | undefined {
  if (fields?.container === undefined) return fields;
  const { container: _, ...known } = fields;
  return known;
}

/**
 * The `container` of a request.
 * @param requested by a tool
 */
export function containerFor(
  history: readonly InputItem[],
  requested: string | JsonObject | undefined,
): string | JsonObject | undefined {
  const last = history.findLast(({ type }) => type !== 'function_call_output');
  const id = last?.type === 'function_call' ? last.vendor?.anthropic?.container : undefined;
  if (typeof id !== 'string' || typeof requested === 'string') return requested;
  return isObject(requested) ? omitUndefined({ id, ...requested }) : id;
}
