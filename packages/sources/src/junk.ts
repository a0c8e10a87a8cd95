/**
 * Names that are never documents: what editors, office programs, uploads, sync tools, storage systems and operating systems leave beside
 * the files people mean. Each kind is matched by what makes it recognisable, so that ordinary names that look alike (`v1.2~draft.md`,
 * `#1 plan.md`) pass. docs/ignored-names.md lists them; a test compares.
 */
interface JunkKind {
  kind: string;
  pattern: RegExp;
}

const FILES: readonly JunkKind[] = [
  { kind: 'lock file of an office program', pattern: /^~\$/ },
  { kind: 'temporary file of an office program', pattern: /^~.*\.tmp$/i },
  { kind: 'backup of an editor', pattern: /~$/ },
  { kind: 'autosave of an editor', pattern: /^#.*#$/ },
  { kind: 'swap file of an editor', pattern: /\.sw[a-z]$/i },
  { kind: 'safe-write file of an editor', pattern: /___jb_(tmp|old|bak)___$/ },
  // Vim probes whether it may create files with this name, and the next ones where it is taken (4913 + 123 n).
  { kind: 'write probe of vim', pattern: /^(4913|5036|5159|5282|5405)$/ },
  {
    kind: 'unfinished download or upload',
    pattern:
      /(\.(part|partial|filepart|crdownload|download|downloading|opdownload|fdmdownload|upload|uploading|aria2|!ut|!qb|bc!|jc!|xltd|dctmp|ytdl|part-frag\d+)|^~utorrentpartfile_.*\.dat|\.lftp-pget-status)$/i,
  },
  { kind: 'file of a sync tool', pattern: /(\.(!sync|ffs_tmp|ffs_lock|ffs_db|_gstmp)|^synctoy_.*\.dat)$/i },
  { kind: 'temporary file', pattern: /\.(tmp|temp|~tmp)$/i },
  { kind: 'lock file', pattern: /\.(lck|laccdb|idlk|dwl|dwl2)$/i },
  { kind: 'file of a storage system', pattern: /@syno(eastream|resource)$/i },
  { kind: 'file of the operating system', pattern: /^(thumbs\.db|ehthumbs(_vista)?\.db|desktop\.ini|icon\r)$/i },
];

const FOLDERS: readonly JunkKind[] = [
  {
    kind: 'recycle bin',
    pattern: /^(\$recycle\.bin|recycle[rd]|[#@]recycle|trashbox|_nas_recycle_.*|network trash folder|files_trashbin)$/i,
  },
  {
    kind: 'snapshots or versions of a storage system',
    pattern: /^([#~]snapshot|@(recently-)?snapshot|@gmt-\d{4}\.\d\d\.\d\d-\d\d\.\d\d\.\d\d|files_versions)$/i,
  },
  {
    kind: 'folder of a storage system',
    pattern: /^@(eadir|tmp|sharebin|synologycloudsync|activebackup|__thumb)$/i,
  },
  { kind: 'folder of a sync tool', pattern: /^(_gsdata_|_syncapp)$/i },
  {
    kind: 'folder of the operating system',
    pattern: /^(system volume information|lost\+found|found\.\d{3}|__macosx|temporary items)$/i,
  },
  { kind: 'unfinished download or upload', pattern: /\.(part|partial|crdownload|download)$/i },
];

const HIDDEN = /^\./;

/**
 * Which kind of junk a name is; undefined for an ordinary one. Hidden files and folders are junk: ask about names below the root
 * only, since the root itself may lie under a dotted folder.
 *
 * @param name one component of a path
 */
export function junkKind(name: string, kind: 'file' | 'folder'): string | undefined {
  if (HIDDEN.test(name)) return kind === 'file' ? 'hidden file' : 'hidden folder';
  return (kind === 'file' ? FILES : FOLDERS).find((junk) => junk.pattern.test(name))?.kind;
}
