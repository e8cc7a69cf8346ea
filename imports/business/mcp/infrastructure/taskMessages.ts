/**
 * Carries tasks of the revision 2026-07-28 past the official client, which knows neither its requests nor a result that
 * is a task. https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import type { Client, StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { isObject } from '../../ai/domain/util/json';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** Hides a method from the client, which refuses those of other revisions. */
const HIDDEN = 'bolide:';
/** The field of `_meta` that carries the task that a server returns for `tools/call`. */
const TASK_FIELD = 'bolide/task';

/** To be called once the transport is connected. */
export function carryTasks(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(
      'method' in message && message.method.startsWith(HIDDEN)
        ? { ...message, method: message.method.slice(HIDDEN.length) }
        : message,
      options,
    );
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    const result: unknown = 'result' in message ? message.result : undefined;
    onmessage?.(
      isObject(result) && result.resultType === 'task'
        ? ({ ...message, result: { resultType: 'complete', content: [], _meta: { [TASK_FIELD]: result } } } as never)
        : message,
      extra,
    );
  };
}

/** @returns the task that a result stands for */
export function taskIn(result: Readonly<Record<string, unknown>>): JsonObject | undefined {
  const { task, _meta } = result;
  // The revision 2025-11-25 has it as a field.
  if (isObject(task) && typeof task.taskId === 'string') return task;
  const carried = isObject(_meta) ? _meta[TASK_FIELD] : undefined;
  return isObject(carried) && typeof carried.taskId === 'string' ? carried : undefined;
}

/** @throws what the server's client throws */
export function requestTask(
  client: Client,
  method: 'tasks/get' | 'tasks/result' | 'tasks/update' | 'tasks/cancel',
  params: JsonObject,
  options: Parameters<Client['callTool']>[1],
): Promise<Record<string, unknown>> {
  const name = client.getProtocolEra() === 'modern' ? `${HIDDEN}${method}` : method;
  return client.request({ method: name, params: { ...params } }, ANY_OBJECT, options);
}

/** What comes is read field by field. */
export const ANY_OBJECT: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'bolide',
    validate: (value) => (isObject(value) ? { value } : { issues: [{ message: 'must be an object' }] }),
  },
};
