/** Whether what is shown is live. */
import { useData } from '../data/DataContext';

const WORDS = { connecting: 'Connecting…', live: 'Live', lost: 'Connection lost, trying again' } as const;

export function ConnectionMark() {
  const connection = useData().useConnection();
  return (
    <p className={`connection connection-${connection}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {WORDS[connection]}
    </p>
  );
}
