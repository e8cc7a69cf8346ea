/** What the playground consists of: settings, one to four models side by side, and the conversation with each. */
import type { Attachment } from './attachments';

/** A field that is blank leaves the choice to the model or its vendor. */
export interface PlaygroundSettings {
  readonly instructions: string;
  /** The typed text, as in `maxOutputTokens` and `schema`. */
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly reasoning: string;
  /** JSON Schema of the answer. */
  readonly schema: string;
  /** Names. */
  readonly tools: readonly string[];
}

export interface MessageInput {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** A message and the run that answers it. */
export interface Turn {
  /** The same in every lane that was sent the message. */
  readonly messageId: string;
  readonly requestId: string;
  /** Absent for a run that was opened: its record contains the message. */
  readonly input?: MessageInput;
  /** Absent until the server has accepted the message. */
  readonly executionId?: string;
  /** Why the server has not accepted it. */
  readonly error?: string;
  /** When it was sent, in milliseconds since the epoch; absent after a reload. */
  readonly sentAt?: number;
  /** Milliseconds until this page had the first text. */
  readonly firstText?: number;
}

/** A conversation with one model. */
export interface Lane {
  readonly id: string;
  readonly conversationId: string;
  readonly providerId: string;
  /** Blank: the provider's default. */
  readonly model: string;
  readonly turns: readonly Turn[];
}

export interface PlaygroundState {
  readonly settings: PlaygroundSettings;
  /** At least one. */
  readonly lanes: readonly Lane[];
  /** The next message. */
  readonly draft: MessageInput;
}

export const MAX_LANES = 4;

export const NO_MESSAGE: MessageInput = { text: '', attachments: [] };

export const NO_SETTINGS: PlaygroundSettings = {
  instructions: '',
  temperature: '',
  maxOutputTokens: '',
  reasoning: '',
  schema: '',
  tools: [],
};

export type PlaygroundAction =
  | { readonly type: 'settings'; readonly change: Partial<PlaygroundSettings> }
  | { readonly type: 'draft'; readonly change: Partial<MessageInput> }
  | { readonly type: 'attach'; readonly attachments: readonly Attachment[] }
  | { readonly type: 'target'; readonly laneId: string; readonly providerId: string; readonly model: string }
  | { readonly type: 'add-lane'; readonly lane: Lane }
  | { readonly type: 'remove-lane'; readonly laneId: string }
  /** Appends the message to every lane. */
  | { readonly type: 'send'; readonly turns: ReadonlyMap<string, Turn> }
  /** Replaces a message in the lanes that have it, and drops what came after it. */
  | { readonly type: 'resend'; readonly messageId: string; readonly turns: ReadonlyMap<string, Turn> }
  | { readonly type: 'started'; readonly requestId: string; readonly executionId: string }
  | { readonly type: 'first-text'; readonly requestId: string; readonly at: number }
  | { readonly type: 'refused'; readonly requestId: string; readonly error: string }
  | { readonly type: 'clear'; readonly conversationIds: ReadonlyMap<string, string> }
  | { readonly type: 'load'; readonly state: PlaygroundState };

export function reducePlayground(state: PlaygroundState, action: PlaygroundAction): PlaygroundState {
  switch (action.type) {
    case 'settings':
      return { ...state, settings: { ...state.settings, ...action.change } };
    case 'draft':
      return { ...state, draft: { ...state.draft, ...action.change } };
    case 'attach':
      return {
        ...state,
        draft: { ...state.draft, attachments: [...state.draft.attachments, ...action.attachments] },
      };
    case 'target': {
      const { laneId, providerId, model } = action;
      return withLanes(state, (lane) => (lane.id === laneId ? { ...lane, providerId, model } : lane));
    }
    case 'add-lane':
      return state.lanes.length < MAX_LANES ? { ...state, lanes: [...state.lanes, action.lane] } : state;
    case 'remove-lane': {
      const lanes = state.lanes.filter(({ id }) => id !== action.laneId);
      return lanes.length === 0 ? state : { ...state, lanes };
    }
    case 'send':
      return {
        ...withLanes(state, (lane) => {
          const turn = action.turns.get(lane.id);
          return turn === undefined ? lane : { ...lane, turns: [...lane.turns, turn] };
        }),
        draft: NO_MESSAGE,
      };
    case 'resend':
      return withLanes(state, (lane) => {
        const turn = action.turns.get(lane.id);
        const index = lane.turns.findIndex(({ messageId }) => messageId === action.messageId);
        return turn === undefined || index === -1 ? lane : { ...lane, turns: [...lane.turns.slice(0, index), turn] };
      });
    case 'started':
      return withTurn(state, action.requestId, ({ error: _, ...turn }) => ({
        ...turn,
        executionId: action.executionId,
      }));
    case 'first-text':
      return withTurn(state, action.requestId, (turn) =>
        turn.sentAt === undefined || turn.firstText !== undefined
          ? turn
          : { ...turn, firstText: Math.max(0, action.at - turn.sentAt) },
      );
    case 'refused':
      return withTurn(state, action.requestId, (turn) => ({ ...turn, error: action.error }));
    case 'clear':
      return withLanes(state, (lane) => ({
        ...lane,
        turns: [],
        conversationId: action.conversationIds.get(lane.id) ?? lane.conversationId,
      }));
    case 'load':
      return action.state;
  }
}

function withLanes(state: PlaygroundState, change: (lane: Lane) => Lane): PlaygroundState {
  return { ...state, lanes: state.lanes.map(change) };
}

function withTurn(state: PlaygroundState, requestId: string, change: (turn: Turn) => Turn): PlaygroundState {
  return withLanes(state, (lane) =>
    lane.turns.some((turn) => turn.requestId === requestId)
      ? { ...lane, turns: lane.turns.map((turn) => (turn.requestId === requestId ? change(turn) : turn)) }
      : lane,
  );
}
