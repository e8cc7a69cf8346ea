/** The reactive helpers for Tracker computations, bound to the app's Meteor: `Tracker.autorun`, Blaze, Vue. */
import type { Conversation, ConversationOptions } from '../../conversations/observeConversation';
import type { BrowserPackages } from './BrowserPackages';
import { callMethod } from './callMethod';
import { createMeteorData } from './createMeteorData';
import { MeteorSource } from './MeteorSource';
import { ReactiveConversation } from './ReactiveConversation';
import { trackDelta } from './trackDelta';
import type { TrackedDelta } from './trackDelta';
import { trackRun } from './trackRun';
import type { TrackedRun } from './trackRun';
import { trackToolCalls } from './trackToolCalls';
import type { ToolCallFilter, TrackedToolCalls } from './trackToolCalls';

export interface MeteorHelpers {
  /** Subscribes to `ai.run` while the computation runs, and returns the run. */
  readonly trackRun: (executionId: string | undefined) => TrackedRun;
  /** What the model has written in a run so far. */
  readonly trackDelta: (executionId: string | undefined) => TrackedDelta;
  /** The tool calls of a run, or those that match a filter. */
  readonly trackToolCalls: (filter: string | ToolCallFilter | undefined) => TrackedToolCalls;
  /**
   * Opens a conversation, whose `get()` is reactive in computations.
   * @param options read with each message, so that getters return what applies to it; the `id` is read once
   */
  readonly createConversation: (options: ConversationOptions) => { get(): Conversation };
  /**
   * Calls a method, which Meteor does not repeat after a reconnect.
   * @throws DashboardError with the `code` of the server's error
   */
  readonly callMethod: <T = void>(name: string, argument: object) => Promise<T>;
}

/** @throws TypeError for a missing or wrong object, with its import */
export function createMeteorHelpers(packages: BrowserPackages): MeteorHelpers {
  const source = MeteorSource.of(packages);
  const data = createMeteorData(packages);
  return {
    trackRun: (executionId) => trackRun(source, executionId),
    trackDelta: (executionId) => trackDelta(source, executionId),
    trackToolCalls: (filter) => trackToolCalls(source, filter),
    createConversation: (options) => new ReactiveConversation(source, data, options),
    callMethod: (name, argument) => callMethod(source.Meteor, name, argument),
  };
}
