/** Wires the chat: messages in, streamed answers out, with the module's tools. */
import { permittedTools } from '../../application/operations/permittedTools';
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import { ResponseHandler } from '../../application/services/ResponseHandler';
import type { ResponseHandlerOptions } from '../../application/services/ResponseHandler';
import type { FunctionTool } from '../../domain/entities/Tool';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { ContextSource } from '../../domain/interfaces/ContextSource';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ConversationStore } from '../../domain/interfaces/ConversationStore';
import { MemoryConversationStore } from '../persistence/conversations/MemoryConversationStore';
import { ConversationChannels } from '../events/ConversationChannels';

export interface ChatPorts {
  /** Default: in memory. */
  readonly memory?: ConversationStore;
  readonly context?: ContextSource;
  /** Which tools a message may use, by where it comes from. Default: all. */
  readonly access?: AccessPolicy;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface Chat {
  readonly handler: ResponseHandler;
  readonly channels: ConversationChannels;
}

export interface ChatDependencies {
  readonly settings: {
    readonly providers: readonly { readonly id: string }[];
    readonly defaultProvider?: string;
    readonly temperature?: number;
    readonly systemPrompt?: string;
  };
  readonly loop: AgenticLoop;
  readonly tools: { readonly tools: readonly FunctionTool[] };
}

export function createChat({ settings, loop, tools }: ChatDependencies, ports: ChatPorts): Chat {
  const { defaultProvider = settings.providers[0]?.id ?? '', temperature, systemPrompt } = settings;
  const channels = new ConversationChannels();
  const handler = new ResponseHandler({
    loop,
    channels: channels.of,
    memory: ports.memory ?? new MemoryConversationStore(),
    // A provider's id means its default model.
    model: defaultProvider,
    tools: () => tools.tools.filter(runsUnattended).map(({ name }) => name),
    ...(ports.access?.refusalOfTool === undefined ? {} : { permitTools: permitBy(ports.access) }),
    ...(ports.context === undefined ? {} : { context: ports.context }),
    ...(ports.logger === undefined ? {} : { logger: ports.logger }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  });
  return { handler, channels };
}

function permitBy(access: AccessPolicy): NonNullable<ResponseHandlerOptions['permitTools']> {
  return async ({ userId, origin: { tokenId } }, tools) => {
    const actor = { userId, source: 'http', ...(tokenId === undefined ? {} : { tokenId }) } as const;
    const permitted = await permittedTools(
      access,
      actor,
      tools.map((name) => ({ name })),
    );
    return permitted.map(({ name }) => name);
  };
}

/** In a chat no one approves calls or submits external results; such a tool would block the chat for a day. */
function runsUnattended({ needsApproval, external }: FunctionTool): boolean {
  return (needsApproval === undefined || needsApproval === false) && external !== true;
}
