/**
 * A modal dialog. The browser keeps the focus within it, and closes it with Escape. The focus returns to where it was.
 */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { uiRoot } from '../shell/uiRoot';

export interface DialogProps {
  /** Names the dialog for screen readers. */
  readonly label: string;
  readonly className?: string;
  /** A click beside the dialog closes it. Default: true; false where it would lose what was typed. */
  readonly closesOutside?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ label, className = '', closesOutside = true, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // At the first rendering: a field with `autoFocus` has the focus before any effect.
  const [opener] = useState(() => uiRoot().activeElement);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, [opener]);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        // Only the backdrop belongs to the element itself: its content fills it.
        if (closesOutside && event.target === dialog.current) onClose();
      }}
    >
      <div className="dialog-content">{children}</div>
    </dialog>
  );
}
