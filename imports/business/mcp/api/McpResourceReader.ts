/** Reads and watches resources for a caller, with the rights and limits of the tools that read them. */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { McpServerPackage } from './importMcpServer';
import type { McpCaller } from './McpCaller';
import type { McpResource, McpResourceCall, McpResources } from './McpResources';
import type { McpTools } from './McpTools';

export interface McpResourceReaderPorts {
  readonly sdk: Pick<McpServerPackage, 'ProtocolError' | 'ProtocolErrorCode' | 'ResourceNotFoundError'>;
  readonly tools: McpTools;
  readonly resources: McpResources;
}

export class McpResourceReader {
  private readonly ports: McpResourceReaderPorts;

  constructor(ports: McpResourceReaderPorts) {
    this.ports = ports;
  }

  /** The resources, or the templates, that the caller may read. */
  async list(caller: McpCaller, isTemplate: boolean): Promise<readonly McpResource[]> {
    const permitted = new Set((await this.ports.tools.list(caller)).map(({ name }) => name));
    return this.ports.resources.list().filter((each) => each.isTemplate === isTemplate && permitted.has(each.tool));
  }

  /** @returns the content @throws ProtocolError for an unknown resource, and for one that cannot be read */
  async read(uri: string, caller: McpCaller): Promise<string> {
    return (await this.call(uri, caller)).text;
  }

  /**
   * Calls back when the resource has changed. Reads it first: only a call of the tool tells whether the caller may.
   * @returns ends that
   * @throws as `read`
   */
  async watch(uri: string, caller: McpCaller, onUpdate: () => void): Promise<() => void> {
    const { call } = await this.call(uri, caller);
    return this.ports.resources.watch(call, caller.actor.userId, onUpdate);
  }

  private async call(
    uri: string,
    { actor, signal }: McpCaller,
  ): Promise<{ readonly text: string; readonly call: McpResourceCall }> {
    const { sdk, tools, resources } = this.ports;
    const call = resources.find(uri);
    if (call === undefined || !tools.has(call.tool)) throw new sdk.ResourceNotFoundError(uri);
    const { tool: name, arguments: args } = call;
    const failed = (message: string): Error =>
      new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `The resource cannot be read: ${message}`);
    const settled = await tools.calls
      .call(actor, { ...{ name, arguments: args, signal }, approve: () => ({ approved: false, reason: 'Not asked.' }) })
      .catch((error: unknown) => {
        throw error instanceof LLMInvalidRequestError ? failed(error.message) : error;
      });
    if (settled.state === 'completed') return { text: settled.result, call };
    throw failed('error' in settled ? settled.error.message : 'the call was ended.');
  }
}
