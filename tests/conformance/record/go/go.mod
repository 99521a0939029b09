module conformance/record

go 1.26

require google.golang.org/adk/v2 v2.2.0
