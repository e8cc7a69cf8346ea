/** One memory: its text, and when it was saved. */
import type { MemoryEntry } from '../../business/ai/domain/interfaces/Memory';
import { useNow } from '../components/useNow';
import { formatDateTime, formatRelativeTime } from '../format/format';

/** Characters of the text that name the memory in the label of its button. */
const NAMED = 40;

export function MemoryRow({
  memory: { id, text, savedAt },
  onForget,
}: {
  readonly memory: MemoryEntry;
  readonly onForget: () => void;
}) {
  const now = useNow(30_000);
  return (
    <li className="entry" data-memory={id}>
      <div className="entry-main">
        <p className="memory-text">
          <bdi>{text}</bdi>
        </p>
        <p className="muted entry-facts">
          <span title={formatDateTime(savedAt)}>saved {formatRelativeTime(savedAt, now)}</span>
        </p>
      </div>
      <div className="buttons">
        <button
          type="button"
          className="button button-small button-danger"
          onClick={onForget}
          aria-label={`Delete: ${text.slice(0, NAMED).toWellFormed()}`}
        >
          Delete
        </button>
      </div>
    </li>
  );
}
