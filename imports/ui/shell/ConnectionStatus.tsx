/** Whether the page receives live updates. */
import { useData } from '../hooks/BolideProvider';
import type { Connection } from '../data/DashboardData';
import { useLostSince } from './useLostSince';

const LABELS: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost',
};

export function ConnectionStatus() {
  const connection = useData().useConnection();
  const shown = useLostSince(connection) === undefined ? connection : 'lost';
  return (
    <p className={`connection connection-${shown}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {LABELS[shown]}
    </p>
  );
}
