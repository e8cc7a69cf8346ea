/** Wires the chat: messages in, streamed answers out, with the module's tools. */
import { permittedTools } from '../../application/operations/permittedTools';
import type { AgenticLoop } from '../../application/services/AgenticLoop';
import { ResponseHandler } from '../../application/services/ResponseHandler';
import type { ResponseHandlerOptions } from '../../application/services/ResponseHandler';
import { isExternalTool } from '../../domain/entities/Tool';
import type { FunctionTool } from '../../domain/entities/Tool';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { ContextSource } from '../../domain/interfaces/ContextSource';
import type { Logger } from '../../domain/interfaces/Logger';
import type { ConversationStore } from '../../domain/interfaces/ConversationStore';
import { MemoryConversationStore } from '../persistence/conversations/MemoryConversationStore';
import type { ChannelSubscriber } from '../events/ConversationChannel';
import { ConversationChannels } from '../events/ConversationChannels';
import { ConversationFollower } from '../events/ConversationFollower';
import type { LiveText } from '../events/ConversationFollower';
import { AnswerWriter } from '../../application/services/chat/AnswerWriter';
import { LiveAnswer } from '../../application/services/chat/LiveAnswer';
import type { LiveAnswerPorts } from '../../application/services/chat/LiveAnswer';
import { consoleLogger } from '../../../../log/consoleLogger';
import type { ChatTurnStore } from '../../domain/interfaces/ChatTurnStore';
import type { UserStorage } from '../../domain/interfaces/UserStorage';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { omitUndefined } from '../../domain/util/omitUndefined';

export interface ChatPorts {
  /** Default: in memory. */
  readonly memory?: ConversationStore;
  /** Keeps messages until they are answered. Default: those of a process that dies get no answer. */
  readonly turns?: ChatTurnStore;
  readonly context?: ContextSource;
  /** What users may store. Default: as much as they like. */
  readonly storage?: Pick<UserStorage, 'admit'>;
  /** Whether what is remembered about the user is added to each message, and to runs that do not say it. */
  readonly recall?: boolean | undefined;
  /** Which tools a message may use, by where it comes from. Default: all. */
  readonly access?: AccessPolicy;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface Chat {
  readonly handler: ResponseHandler;
  readonly channels: ConversationChannels;
  /**
   * Subscribes to a conversation's channel, in which the answers of other processes appear, too.
   * @param lastEventId of any process
   * @returns a function that unsubscribes
   * @throws what the store of messages throws
   */
  subscribe(
    userId: string,
    conversationId: string,
    subscriber: ChannelSubscriber,
    lastEventId?: string,
  ): Promise<() => void>;
  /** Shows answers of other processes while they are written, from now on. */
  showLiveText(events: LiveEvents): void;
}

/** The live events of a `RunModule`. */
export type LiveEvents = Pick<LiveText, 'watch'> & Pick<LiveAnswerPorts, 'live'>;

export interface ChatDependencies {
  readonly settings: {
    readonly providers: readonly { readonly id: string }[];
    readonly defaultProvider?: string;
    readonly temperature?: number;
    readonly systemPrompt?: string;
  };
  readonly loop: AgenticLoop;
  readonly tools: { readonly tools: readonly FunctionTool[] };
  /** The store of the loop's runs. */
  readonly runs: Pick<RunStore, 'load' | 'head'>;
}

export function createChat({ settings, loop, tools, runs }: ChatDependencies, ports: ChatPorts): Chat {
  const { defaultProvider = settings.providers[0]?.id ?? '', temperature, systemPrompt } = settings;
  const channels = new ConversationChannels();
  const { turns, logger = consoleLogger } = ports;
  let events: LiveEvents | undefined;
  const liveText = (): LiveText | undefined => {
    if (events === undefined) return undefined;
    const { live, watch } = events;
    return { watch, show: (id, output) => new LiveAnswer(id, new AnswerWriter(output), { live, runs }) };
  };
  const follower =
    turns === undefined ? undefined : new ConversationFollower({ turns, channelOf: channels.of, logger, liveText });
  const handler = new ResponseHandler({
    loop,
    channels: channels.of,
    durable:
      turns === undefined || follower === undefined
        ? undefined
        : {
            turns,
            runs,
            catchUp: (user, conversation) => follower.catchUp(user, conversation),
            live: () => events?.live,
          },
    storage: ports.storage,
    memory: ports.memory ?? new MemoryConversationStore(),
    // A provider's id means its default model.
    model: defaultProvider,
    tools: () => tools.tools.filter(runsUnattended).map(({ name }) => name),
    permitTools: ports.access?.refusalOfTool === undefined ? undefined : permitBy(ports.access),
    context: ports.context,
    logger: ports.logger,
    temperature,
    systemPrompt,
    recall: ports.recall,
  });
  return {
    handler,
    channels,
    subscribe: async (userId, conversationId, subscriber, lastEventId) =>
      follower === undefined
        ? channels.of(userId, conversationId).subscribe(subscriber, lastEventId)
        : follower.subscribe(userId, conversationId, subscriber, lastEventId),
    showLiveText: (shown) => {
      events = shown;
    },
  };
}

function permitBy(access: AccessPolicy): NonNullable<ResponseHandlerOptions['permitTools']> {
  return async ({ userId, origin: { tokenId } }, tools) => {
    const actor = { userId, source: 'http', ...omitUndefined({ tokenId }) } as const;
    const permitted = await permittedTools(
      access,
      actor,
      tools.map((name) => ({ name })),
    );
    return permitted.map(({ name }) => name);
  };
}

/** In a chat no one approves calls or submits external results; such a tool would block the chat for a day. */
function runsUnattended(tool: FunctionTool): boolean {
  return (tool.needsApproval ?? false) === false && !isExternalTool(tool);
}
