/** The heading of a page: the tab's title, and where the keyboard is after a change of pages. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

export function PageTitle({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Bolide`;
  }, [title]);
  useEffect(() => {
    // Not on the first page, where the reader's own way from the top is right.
    if (hasMoved) heading.current?.focus({ preventScroll: true });
    hasMoved = true;
  }, []);
  return (
    <div className="page-title">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}

let hasMoved = false;
