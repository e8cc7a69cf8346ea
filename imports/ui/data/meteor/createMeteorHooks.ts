/** The reactive helpers as React hooks, bound to the app's Meteor. */
import type { BrowserPackages } from './BrowserPackages';
import { MeteorSource } from './MeteorSource';
import { trackDelta } from './trackDelta';
import type { TrackedDelta } from './trackDelta';
import { trackRun } from './trackRun';
import type { TrackedRun } from './trackRun';
import { trackToolCalls } from './trackToolCalls';
import type { ToolCallFilter, TrackedToolCalls } from './trackToolCalls';
import { useTracked } from './useTracked';

export interface MeteorHooks {
  readonly useRun: (executionId: string | undefined) => TrackedRun;
  readonly useDelta: (executionId: string | undefined) => TrackedDelta;
  readonly useToolCalls: (filter: string | ToolCallFilter | undefined) => TrackedToolCalls;
  /** Any reactive object of Meteor, such as `() => ({ user: Meteor.user() })`. */
  readonly useTracked: <T extends object>(read: () => T, dependencies: readonly unknown[]) => T;
}

/** To be called once, outside of components. @throws TypeError for a missing or wrong object, with its import */
export function createMeteorHooks(packages: BrowserPackages): MeteorHooks {
  const source = MeteorSource.of(packages);
  return {
    useRun: (executionId) => useTracked(source.Tracker, () => trackRun(source, executionId), [executionId]),
    useDelta: (executionId) => useTracked(source.Tracker, () => trackDelta(source, executionId), [executionId]),
    useToolCalls(filter) {
      // A filter is usually written inline, as a new object in each rendering.
      const key = typeof filter === 'object' ? `${filter.executionId ?? ''} ${filter.state ?? ''}` : filter;
      return useTracked(source.Tracker, () => trackToolCalls(source, filter), [key]);
    },
    useTracked: (read, dependencies) => useTracked(source.Tracker, read, dependencies),
  };
}
