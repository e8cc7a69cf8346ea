/** A dialog with a heading, for forms and questions: it starts at its first field. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Dialog } from './Dialog';
import { Icon } from './Icon';

export function TitledDialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  // After the dialog has opened, which puts the focus on the button that closes it.
  useEffect(() => {
    content.current?.querySelector<HTMLElement>('[data-autofocus], input, select, textarea')?.focus();
  }, []);
  return (
    <Dialog label={title} className="admin-dialog" closesOutside={false} onClose={onClose}>
      <div className="dialog-head">
        <h2>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" className="icon-button" onClick={onClose} aria-label="Close">
          <Icon name="cross" />
        </button>
      </div>
      <div className="admin-dialog-content" ref={content}>
        {children}
      </div>
    </Dialog>
  );
}
