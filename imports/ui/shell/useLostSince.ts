/** Since when the page shows data that may be old. */
import { useEffect, useRef, useState } from 'react';
import type { Connection } from '../data/DashboardData';

/** @returns milliseconds since the epoch; undefined while the connection is live, and while the first one is made */
export function useLostSince(connection: Connection): number | undefined {
  const [since, setSince] = useState<number>();
  const wasLive = useRef(false);
  useEffect(() => {
    if (connection === 'live') {
      wasLive.current = true;
      setSince(undefined);
      // Attempts to connect again are states of a lost connection.
    } else if (wasLive.current || connection === 'lost') setSince((before) => before ?? Date.now());
  }, [connection]);
  return since;
}
