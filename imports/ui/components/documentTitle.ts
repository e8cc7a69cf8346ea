/** The title of the document: the page's, after the number of entries that wait. */

let title = '';
let count = 0;

export function setDocumentTitle(next: string): void {
  title = next;
  show();
}

export function setTitleCount(next: number): void {
  count = next;
  show();
}

function show(): void {
  if (title !== '') document.title = count === 0 ? title : `(${count}) ${title}`;
}
