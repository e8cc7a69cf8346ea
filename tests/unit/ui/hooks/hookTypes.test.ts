/** What TypeScript accepts of the hooks. The assertions hold when this file compiles. */
import { expectTypeOf } from 'expect-type';
import type { RunState } from '../../../../imports/business/ai/domain/entities/Run';
import type {
  Conversation,
  LiveRun,
  MessagePart,
  ToolPart,
  UseConversationOptions,
} from '../../../../imports/entries/react';
import { useConversation, useDelta, useRun } from '../../../../imports/entries/react';
import type { Event, EventType, Message } from '@ag-ui/core';
import type { AgUiEvent, AgUiMessage } from '../../../../imports/entries/node';

describe('the types of the hooks', () => {
  it('describe runs, conversations and their parts', () => {
    expectTypeOf(useRun).parameters.toEqualTypeOf<[executionId: string | undefined]>();
    expectTypeOf<LiveRun['status']>().toEqualTypeOf<RunState | 'idle' | 'loading' | 'unavailable' | 'not-found'>();
    expectTypeOf(useDelta).returns.toEqualTypeOf<{ readonly text: string; readonly reasoning: string }>();
    // @ts-expect-error What the model writes has no messages.
    expectTypeOf<ReturnType<typeof useDelta>['messages']>().toBeArray();
    expectTypeOf(useConversation).returns.toEqualTypeOf<Conversation>();
    expectTypeOf<Extract<MessagePart, { type: 'tool' }>>().toEqualTypeOf<ToolPart>();
    expectTypeOf<Conversation['send']>().toBeCallableWith('Hello?');
    expectTypeOf<Conversation['submitResult']>().toBeCallableWith('call', { output: { degrees: 21 } });
    expectTypeOf<{ model: string; tools: string[] }>().toExtend<UseConversationOptions>();
    expectTypeOf<{ tools: string[] }>().not.toExtend<UseConversationOptions>();
    // @ts-expect-error An outcome is an output or an error.
    expectTypeOf<Conversation['submitResult']>().toBeCallableWith('call', { result: 1 });
    // @ts-expect-error A text has no state.
    expectTypeOf<Extract<MessagePart, { type: 'text' }>['state']>().toBeString();
  });

  it('of AG-UI are those of its own package', () => {
    // The package's enum has the same strings.
    type Plain<T> = T extends EventType ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
    expectTypeOf<AgUiEvent['type']>().toExtend<`${EventType}`>();
    expectTypeOf<Plain<Extract<Event, { type: EventType.RUN_ERROR }>>['message']>().toBeString();
    expectTypeOf<AgUiMessage['role']>().toEqualTypeOf<Message['role']>();
  });
});
