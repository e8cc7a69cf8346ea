/** States above the page that its data is no longer updated, and how old it is. */
import { Icon } from '../components/Icon';
import { useNow } from '../components/useNow';
import { formatDuration } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { useLostSince } from './useLostSince';

/** Streams are reopened once in a while, which takes a moment. */
const PATIENCE_MS = 2_000;

export function LostConnection() {
  const since = useLostSince(useData().useConnection());
  const now = useNow(1_000, since !== undefined);
  if (since === undefined || now - since < PATIENCE_MS) return null;
  return (
    <div className="notice notice-lost">
      <Icon name="plug" />
      <p>
        {/* The age would be read out every second. */}
        <span role="alert">Connection lost, retrying.</span>{' '}
        <span className="numeric">
          The data below is at least {formatDuration(Math.floor((now - since) / 1_000) * 1_000)} old.
        </span>
      </p>
    </div>
  );
}
