/** Exposes `HttpData` to the pages as hooks and commands. */
import type { DashboardData, Loaded } from '../DashboardData';
import type { StreamedRun } from '../reducers/reduceRun';
import { createHttpCommands } from './createHttpCommands';
import { HttpData } from './HttpData';
import type { HttpDataOptions } from './HttpData';
import { useObservable } from './useObservable';

export function createHttpData(options: HttpDataOptions): { readonly data: DashboardData; readonly source: HttpData } {
  const source = new HttpData(options);
  const data: DashboardData = {
    useAccess: () => useObservable(source.access),
    useSimulationNotice: () => options.simulationNotice,
    useConnection: () => useObservable(source.connectionState),
    useRuns: () => useObservable(source.runs),
    useRun: (executionId) => useObservable<Loaded<StreamedRun | undefined>>(source.runDetails(executionId)),
    useTools: () => useObservable(source.tools),
    useProviders: () => useObservable(source.providers),
    useStatistics: () => useObservable(source.statistics),
    commands: createHttpCommands(source),
  };
  return { data, source };
}
