/** Tools are not documents: they only change with the server's code, so one call is enough. */
import { useCallback, useEffect, useState } from 'react';
import { DashboardError } from '../DashboardData';
import type { Loaded } from '../DashboardData';
import type { ToolSummary } from '../../../business/ai/domain/types/ToolSummary';
import type { BrowserMeteor } from './BrowserPackages';
import { callMethod } from './callMethod';

export function useToolList(Meteor: Pick<BrowserMeteor, 'applyAsync'>): Loaded<readonly ToolSummary[]> {
  const [attempt, setAttempt] = useState(0);
  const [result, setResult] = useState<readonly ToolSummary[] | DashboardError>();
  const retry = useCallback(() => {
    setResult(undefined);
    setAttempt((count) => count + 1);
  }, []);
  useEffect(() => {
    let isMounted = true;
    const show = (outcome: readonly ToolSummary[] | DashboardError): void => {
      if (isMounted) setResult(outcome);
    };
    callMethod<readonly ToolSummary[]>(Meteor, 'ai.tools.list', {}).then(show, show);
    return () => void (isMounted = false);
  }, [Meteor, attempt]);
  if (result === undefined) return { state: 'loading' };
  return result instanceof DashboardError
    ? { state: 'failed', error: result, retry }
    : { state: 'ready', value: result };
}
