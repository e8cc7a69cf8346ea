/** The images and files of a message, as previews of a fixed size. */
import { Icon } from '../components/Icon';
import { formatBytes, isShowableImage } from './attachments';
import type { Attachment } from './attachments';

export interface AttachmentListProps {
  readonly attachments: readonly Attachment[];
  readonly onRemove?: (id: string) => void;
}

export function AttachmentList({ attachments, onRemove }: AttachmentListProps) {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attachments">
      {attachments.map(({ id, kind, name, size, dataUrl }) => (
        <li key={id} className="attachment">
          {kind === 'image' && isShowableImage(dataUrl) ? (
            <img src={dataUrl} alt="" width={40} height={40} />
          ) : (
            <span className="attachment-icon" aria-hidden="true">
              <Icon name={kind === 'image' ? 'image' : 'file'} />
            </span>
          )}
          <span className="attachment-text">
            <bdi className="attachment-name">{name}</bdi>
            {size > 0 && <span className="muted">{formatBytes(size)}</span>}
          </span>
          {onRemove !== undefined && (
            <button
              type="button"
              className="icon-button"
              onClick={() => onRemove(id)}
              aria-label={`Remove ${name}`}
              title="Remove"
            >
              <Icon name="cross" />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
