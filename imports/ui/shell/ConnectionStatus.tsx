/** Whether the page receives live updates. */
import { useData } from '../hooks/BolideProvider';

const LABELS = { connecting: 'Connecting…', live: 'Live', lost: 'Connection lost. Reconnecting…' } as const;

export function ConnectionStatus() {
  const connection = useData().useConnection();
  return (
    <p className={`connection connection-${connection}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {LABELS[connection]}
    </p>
  );
}
