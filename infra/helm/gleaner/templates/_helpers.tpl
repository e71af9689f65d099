{{/* Thresholds and times: files/policy.json, written from the policy by `python -m infra.helm_files`. */}}
{{- define "gleaner.policy" -}}
{{ .Files.Get "files/policy.json" }}
{{- end }}

{{/* With a longer one Kubernetes cuts the pods' names, and they could not be told from others. */}}
{{- define "gleaner.name" -}}
{{ .Release.Name | trunc 46 | trimSuffix "-" }}
{{- end }}

{{/* This release's pods, for Prometheus. */}}
{{- define "gleaner.pods" -}}
namespace='{{ .Release.Namespace }}',pod=~'{{ include "gleaner.name" . }}-[a-z0-9]+-[a-z0-9]{5}'
{{- end }}

{{- define "gleaner.selector" -}}
app.kubernetes.io/name: gleaner
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gleaner.labels" -}}
{{ include "gleaner.selector" . }}
app.kubernetes.io/version: {{ include "gleaner.tag" . | trunc 63 | replace ":" "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gleaner.tag" -}}
{{- if eq .Values.image.tag "latest" }}{{ fail "image.tag: latest moves; name a version or, better, a digest" }}{{ end }}
{{- .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gleaner.image" -}}
{{- $tag := include "gleaner.tag" . }}
{{- .Values.image.repository }}{{ if hasPrefix "sha256:" $tag }}@{{ else }}:{{ end }}{{ $tag }}
{{- end }}

{{/* Front workers: one for each requested core but one, for which there is memory, at most 16. A pod without a limit
would see all cores of its node. */}}
{{- define "gleaner.workers" -}}
{{- $cpu := toString .Values.cpu }}
{{- $cores := divf (trimSuffix "m" $cpu) (ternary 1000 1 (hasSuffix "m" $cpu)) }}
{{- $mebibytes := mul (regexFind "[0-9]+" .Values.memory) (ternary 1024 1 (hasSuffix "Gi" .Values.memory)) }}
{{- $held := div (sub $mebibytes 3328) 1536 }}
{{- if lt $held 1 }}{{ fail (printf "memory: %s is too little; a pod with one front worker needs 4864Mi" .Values.memory) }}{{ end }}
{{- max 1 (min 16 $held (sub (ceil $cores) 1)) }}
{{- end }}

{{/* The service's own settings among those that the measured capacity recommends. */}}
{{- define "gleaner.recommended" -}}
{{- $found := list }}
{{- with .Values.capacity }}
{{- range (required "capacity: no `recommended` in the file" (fromJson .).recommended) }}
{{- if hasPrefix "GLEANER_" .name }}{{ $found = append $found . }}{{ end }}
{{- end }}
{{- end }}
{{- toJson $found }}
{{- end }}
