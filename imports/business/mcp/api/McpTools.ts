/** What is offered over MCP: those of the server's tools, and of the tools for runs, that the operator has chosen. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { hasFailed } from '../../ai/domain/entities/Tool';
import type { ToolCall } from '../../ai/domain/entities/Tool';
import { isObject, readJson } from '../../ai/domain/util/json';
import type { InputImage } from '../../ai/domain/types/ResponsesAPITypes';
import { matchesWildcard } from '../../ai/domain/util/matchesWildcard';
import type { ToolCaller } from '../../ai/application/services/ToolCaller';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { McpCaller } from './McpCaller';
import type { RunTool } from './runTools';

export interface McpToolsPorts {
  readonly caller: Pick<ToolCaller, 'call' | 'has' | 'list' | 'recordDecision' | 'runsInBackground'>;
  readonly runTools: readonly RunTool[];
  /** Names, in which `*` stands for any characters. */
  readonly offered: () => readonly string[];
}

export class McpTools {
  private readonly ports: McpToolsPorts;
  private readonly runTools: ReadonlyMap<string, RunTool>;

  constructor(ports: McpToolsPorts) {
    this.ports = ports;
    this.runTools = new Map(ports.runTools.map((tool) => [tool.name, tool]));
  }

  get calls(): Pick<ToolCaller, 'call' | 'recordDecision'> {
    return this.ports.caller;
  }

  /** The tools that the caller may use now, by name. */
  async list({ actor, mayRead }: McpCaller): Promise<readonly Tool[]> {
    // The server's tools of the same names can't be called, so they are not listed.
    const tools = await this.ports.caller.list(actor, (name) => this.isOffered(name) && !this.runTools.has(name));
    const ofRuns = [...this.runTools.values()].filter(({ name, reads }) => this.isOffered(name) && (mayRead || !reads));
    return [
      ...ofRuns.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
        ...{ name, description, inputSchema, outputSchema, annotations },
      })),
      ...tools.map(({ name, description, parameters, idempotent, readOnly }) => ({
        name,
        ...(description === '' ? {} : { description }),
        // Stated in every schema of a callable tool.
        inputSchema: parameters as Tool['inputSchema'],
        ...(idempotent || readOnly ? { annotations: hintsOf(idempotent, readOnly) } : {}),
      })),
    ];
  }

  /** The tool for runs with that name. Undefined for other tools, and those that the caller is not offered. */
  runTool(name: string, { mayRead }: McpCaller): RunTool | undefined {
    const tool = this.runTools.get(name);
    return tool === undefined || !this.isOffered(name) || (tool.reads && !mayRead) ? undefined : tool;
  }

  /** Whether it is one of the server's tools, and offered. */
  has(name: string): boolean {
    return this.isOffered(name) && !this.runTools.has(name) && this.ports.caller.has(name);
  }

  /** Whether it is one of the server's tools, and offered, whose calls nobody has to wait for or to approve. */
  runsInBackground(name: string): boolean {
    return this.has(name) && this.ports.caller.runsInBackground(name);
  }

  private isOffered(name: string): boolean {
    return this.ports.offered().some((pattern) => matchesWildcard(pattern, name));
  }
}

/** Clients ask people before calls of tools that do not say that they only read. */
function hintsOf(idempotent: boolean, readOnly: boolean): Tool['annotations'] {
  return omitUndefined({ readOnlyHint: readOnly || undefined, idempotentHint: idempotent || undefined });
}

/** A settled call as the protocol's result: an object is structured content as well as text; images follow. */
export function toMcpResult(call: ToolCall): CallToolResult {
  if (call.state === 'completed') {
    const structured = parseObject(call.result);
    return omitUndefined({
      content: [{ type: 'text', text: call.result }, ...(call.images ?? []).flatMap(imageBlocks)],
      structuredContent: structured,
    });
  }
  const message = 'error' in call ? call.error.message : `The call of "${call.name}" did not complete.`;
  return toMcpFailure(hasFailed(call) ? message : `The call of "${call.name}" was cancelled.`);
}

/** @returns none for what is no data URI, which completed calls do not have */
function imageBlocks({ image_url: url = '' }: InputImage): CallToolResult['content'] {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return mimeType === undefined || data === undefined ? [] : [{ type: 'image', mimeType, data }];
}

export function toMcpFailure(message: string): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** @returns undefined for a text that is no JSON object */
function parseObject(text: string): Record<string, unknown> | undefined {
  const value = text.startsWith('{') ? readJson(text) : undefined;
  return isObject(value) ? value : undefined;
}
