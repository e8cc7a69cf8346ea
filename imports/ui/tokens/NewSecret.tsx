/** Shows a new secret, once. */
import { CopyButton } from '../components/CopyButton';
import { TitledDialog } from '../components/TitledDialog';

export function NewSecret({
  title,
  token,
  onClose,
}: {
  readonly title: string;
  readonly token: string;
  readonly onClose: () => void;
}) {
  return (
    <TitledDialog title={title} onClose={onClose}>
      <div className="admin-dialog-body">
        <p>Copy it now: it is not stored, and cannot be shown again.</p>
        <div className="secret-once">
          <code data-new-token>{token}</code>
          <CopyButton text={token} label="token" />
        </div>
        <p className="muted">
          Send it as <code>Authorization: Bearer …</code>, or as the API key of a vendor’s SDK with this server as base
          URL.
        </p>
      </div>
      <div className="buttons dialog-buttons">
        <button type="button" className="button button-primary" onClick={onClose}>
          Done
        </button>
      </div>
    </TitledDialog>
  );
}
