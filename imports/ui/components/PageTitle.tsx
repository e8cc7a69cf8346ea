/** The heading of a page. It sets the tab's title and takes the focus after navigation. */
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { setDocumentTitle } from './documentTitle';

export function PageTitle({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setDocumentTitle(`${title} · Bolide`);
  }, [title]);
  useEffect(() => {
    // On the first page, the focus stays at the top of the document.
    if (hasNavigated) heading.current?.focus({ preventScroll: true });
    hasNavigated = true;
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

let hasNavigated = false;
