/** What of a tool an admin approves: everything that the model would be given about it. */
import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolDefinition } from '../../domain/McpServer';
import { isObject } from '../../../ai/domain/util/json';
import { descriptionOf } from '../readMcpTools';

/** Characters of a description that are kept: more than any model is given. */
const MAX_DESCRIPTION = 16_384;

export interface ListedTool {
  readonly definition: McpToolDefinition;
  readonly hash: string;
}

/** The description is as the server has sent it, with what a reader would not see. */
export function readDefinition(tool: Tool): ListedTool {
  const description = descriptionOf(tool).toWellFormed();
  const complete = { name: tool.name, description, parameters: tool.inputSchema };
  const { name, parameters } = complete;
  const shown = description.slice(0, MAX_DESCRIPTION).toWellFormed();
  return {
    definition: { name, ...(shown === '' ? {} : { description: shown }), parameters },
    hash: createHash('sha256').update(JSON.stringify(complete, sortKeys)).digest('hex'),
  };
}

/** So that equal definitions have equal texts. */
function sortKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
