/** Chat, wired: messages in, streamed answers out, with the module's tools. */
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import { ResponseHandler } from '../../application/services/ResponseHandler';
import type { FunctionTool } from '../../domain/entities/Tool';
import type { ContextSource } from '../../domain/interfaces/ContextSource';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ConversationStore } from '../../domain/interfaces/ConversationStore';
import { MemoryConversationStore } from '../persistence/conversations/MemoryConversationStore';
import { ConversationChannels } from '../events/ConversationChannels';

export interface ConversationPorts {
  /** Default: in memory. */
  readonly memory?: ConversationStore;
  readonly context?: ContextSource;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface Conversations {
  readonly handler: ResponseHandler;
  readonly channels: ConversationChannels;
}

export interface ConversationParts {
  readonly settings: {
    readonly providers: readonly { readonly id: string }[];
    readonly defaultProvider?: string;
    readonly temperature?: number;
    readonly systemPrompt?: string;
  };
  readonly loop: AgenticLoop;
  readonly tools: { readonly tools: readonly FunctionTool[] };
}

export function createConversations(
  { settings, loop, tools }: ConversationParts,
  ports: ConversationPorts,
): Conversations {
  const { defaultProvider = settings.providers[0]?.id ?? '', temperature, systemPrompt } = settings;
  const channels = new ConversationChannels();
  const handler = new ResponseHandler({
    loop,
    channels: channels.of,
    memory: ports.memory ?? new MemoryConversationStore(),
    // A provider's id asks for its default model.
    model: defaultProvider,
    tools: () => tools.tools.filter(needsNobody).map(({ name }) => name),
    ...(ports.context === undefined ? {} : { context: ports.context }),
    ...(ports.logger === undefined ? {} : { logger: ports.logger }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  });
  return { handler, channels };
}

/** A chat has nobody who approves calls or brings results from outside; it would wait for them for a day. */
function needsNobody({ needsApproval, external }: FunctionTool): boolean {
  return (needsApproval === undefined || needsApproval === false) && external !== true;
}
